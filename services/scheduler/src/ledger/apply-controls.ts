import { AppError, isAppError, type Pin, TaskCancel } from '@cleanslate/contracts';
import {
  type Aggregate,
  attachReplay,
  type Decided,
  decide,
  findStep,
  fork,
  type Task,
} from '@cleanslate/domain/ledger';
import {
  findIdleTenants,
  findOpenLetters,
  findReply,
  markReplayed,
  readKnowledgeRevision,
  saveReply,
  type Tx,
  takeTaskSeqs,
} from '@cleanslate/store/ledger';
import { z } from 'zod';
import type { Batch } from './batch.ts';
import type { CancelValue, ControlItem, ForkItem, LedgerResult } from './items.ts';

/**
 * What is kept of a request: enough to see that it is the same one. The answer is read from the task, but for a cancel,
 * whose answer tells what it changed.
 */
const Done = z.strictObject({
  verb: z.string(),
  taskId: z.string(),
  cancelled: TaskCancel.reply.data.options[0].shape.value.optional(),
});
type Done = z.infer<typeof Done>;

/**
 * A cancel, a gate's decision or a retry, once per request id: a repeated request changes nothing and is
 * answered with the task as it is.
 */
export async function applyControl(tx: Tx, batch: Batch, item: ControlItem): Promise<LedgerResult> {
  const stored = batch.find(item);
  if (stored === undefined) return notFound(batch, item);
  const { input } = item;
  const verb = input.kind === 'gate' ? input.action : input.kind;
  const known = await findDone(tx, item, verb);
  if (known instanceof AppError) return { state: stored.state, now: batch.now, refused: known.toBody() };
  if (known !== null) return { state: stored.state, now: batch.now, refused: null, ...toCancelled(known) };
  const idle = input.kind === 'retry' ? await findIdle(tx, item) : undefined;
  if (idle !== undefined) return { state: stored.state, now: batch.now, refused: idle.toBody() };
  const { decided, letters } = await decideControl(tx, batch, item, stored.state);
  batch.apply(item, decided);
  const refusal = decided.changes.map((change) => change.event).find((event) => event.kind === 'refused');
  if (refusal !== undefined) {
    const error = new AppError(refusal.code, refusal.detail).toBody();
    return { state: stored.state, now: batch.now, refused: error };
  }
  for (const letter of letters) await markReplayed(tx, letter, { status: 'replaying' });
  const done: Done = {
    verb,
    taskId: item.taskId,
    ...(input.kind === 'cancel' ? { cancelled: answerCancel(item, decided) } : {}),
  };
  await saveReply(tx, item.tenantId, item.requestId, done);
  return { state: decided.state, now: batch.now, refused: null, ...toCancelled(done) };
}

/**
 * A retry of a task is the replay of its open letters: they are closed when what it runs again was claimed
 * and reported, and not before.
 */
async function decideControl(
  tx: Tx,
  batch: Batch,
  item: ControlItem,
  state: Aggregate,
): Promise<{ readonly decided: Decided; readonly letters: readonly string[] }> {
  const { input } = item;
  if (input.kind !== 'retry') return { decided: decide(state, input, batch.now, batch.options), letters: [] };
  const open = await findOpenLetters(tx, item);
  const undone = state.steps.some((step) => step.purpose === 'compensation');
  // Of a verdict that nothing could satisfy: another round is what the retry adds, and its judge carries the letter on.
  const verdict = undone ? undefined : open.find(({ stepId }) => findStep(state, stepId)?.phase === 'done');
  const decided = decide(state, { ...input, letter: verdict ?? null }, batch.now, batch.options);
  const attached = attachReplay(state, decided, { stepId: null, input: null, others: open });
  const carried = attached.decided.state.steps.some((step) => step.replayOf === verdict?.letterId);
  return {
    decided: attached.decided,
    letters: verdict !== undefined && carried ? [...attached.taken, verdict.letterId] : attached.taken,
  };
}

function answerCancel({ taskId }: ControlItem, { changes, state }: Decided): CancelValue {
  return { taskId, state: state.task.state, changed: changes.length > 0 };
}

function toCancelled({ cancelled }: Done): Pick<LedgerResult, 'cancelled'> {
  return cancelled === undefined ? {} : { cancelled };
}

/** The old task is locked and read, never written. */
export async function applyFork(tx: Tx, batch: Batch, item: ForkItem): Promise<LedgerResult> {
  const source = batch.find(item)?.state;
  if (source === undefined) return notFound(batch, item);
  const key = { tenantId: item.tenantId, taskId: item.newTaskId };
  const known = await findDone(tx, item, 'fork');
  const forked = batch.find(key)?.state;
  if (known !== null)
    return { state: forked, now: batch.now, refused: known instanceof AppError ? known.toBody() : null };
  const idle = await findIdle(tx, item);
  if (idle !== undefined) return { state: undefined, now: batch.now, refused: idle.toBody() };
  try {
    const { taskId: _, ...request } = item;
    const pin = await pinOf(tx, source.task, item);
    const decided = fork(
      source,
      { ...request, taskId: item.newTaskId, submitId: item.requestId, pin },
      batch.now,
      batch.options,
    );
    if (forked !== undefined) throw new AppError('IDEMPOTENCY_CONFLICT', `task "${item.newTaskId}" exists already`);
    const [taskSeq = Number.NaN] = await takeTaskSeqs(tx, 1);
    batch.begin(key, taskSeq, decided);
    await saveReply(tx, item.tenantId, item.requestId, { verb: 'fork', taskId: item.taskId });
    return { state: decided.state, now: batch.now, refused: null };
  } catch (error) {
    if (isAppError(error)) return { state: undefined, now: batch.now, refused: error.toBody() };
    throw error;
  }
}

/** Another pin is for all of the task: results made under the old one don't go with it. */
async function pinOf(tx: Tx, { pin }: Task, item: ForkItem): Promise<Pin> {
  if (item.validAt === undefined && item.revision === undefined) return pin;
  if (item.at !== null)
    throw new AppError(
      'INVALID_INPUT',
      'a fork at a step keeps the pin that earlier results were made at: give one of the two',
    );
  const { revision } = await readKnowledgeRevision(tx);
  const validAt = item.validAt === undefined ? pin.validAt : new Date(item.validAt).toISOString();
  return { validAt, revision: Math.min(item.revision ?? revision, revision) };
}

async function findDone(tx: Tx, item: ControlItem | ForkItem, verb: string): Promise<Done | AppError | null> {
  const reply = await findReply(tx, item.tenantId, item.requestId);
  if (reply === undefined) return null;
  const done = Done.safeParse(reply);
  if (done.success && done.data.verb === verb && done.data.taskId === item.taskId) return done.data;
  return new AppError('INVALID_INPUT', `request id "${item.requestId}" was used for another request: choose a new one`);
}

/**
 * Why the tenant may start no work. Asked after the request id: a request that was done before is answered the same.
 */
async function findIdle(tx: Tx, { tenantId }: { readonly tenantId: string }): Promise<AppError | undefined> {
  return (await findIdleTenants(tx, [tenantId])).get(tenantId);
}

function notFound(batch: Batch, { taskId }: { readonly taskId: string }): LedgerResult {
  const error = new AppError('NOT_FOUND', `task "${taskId}" is not known: see "slate task list"`);
  return { state: undefined, now: batch.now, refused: error.toBody() };
}
