import { AppError, DeadLetterReplay, toAppError } from '@cleanslate/contracts';
import { attachReplay, checkInputEdit, type Decided, decide, findStep } from '@cleanslate/domain/ledger';
import {
  findLetter,
  findLetterForUpdate,
  findOpenLetters,
  findReply,
  markReplayed,
  saveReply,
  type TaskKey,
  type Tx,
} from '@cleanslate/store/ledger';
import type { Batch } from './batch.ts';
import type { LedgerResult, ReplayItem, ReplayValue } from './items.ts';
import { judgeReplay } from './judge-replay.ts';

const ReplayValueSchema = DeadLetterReplay.reply.data.options[0].shape.value;

/**
 * Tasks are locked first and letters behind them, whoever changes both: so the letter is only read here, for its task.
 */
export async function findReplayedTask(tx: Tx, item: ReplayItem): Promise<TaskKey | undefined> {
  const letter = await findLetter(tx, item.tenantId, item.letterId);
  return letter?.task_id ? { tenantId: item.tenantId, taskId: letter.task_id } : undefined;
}

/** Locks the letter and judges it; then the ledger's move failed → pending, and the letters' own. */
export async function applyReplay(tx: Tx, batch: Batch, item: ReplayItem): Promise<LedgerResult> {
  const none = { state: undefined, now: batch.now };
  const letter = await findLetterForUpdate(tx, item.tenantId, item.letterId);
  // Looked up under the letter's lock: the same request may be at work in another scheduler,
  // or stand twice in this batch.
  const known = await findReplayReply(tx, item);
  if (known !== undefined) return { ...none, refused: null, reply: known };
  const error = judgeReplay(letter, item);
  if (error !== null) return { ...none, refused: error.toBody() };
  if (!letter?.task_id || !letter.step_id)
    return { ...none, refused: new AppError('INVALID_INPUT', 'the letter belongs to no task').toBody() };
  const key = { tenantId: item.tenantId, taskId: letter.task_id };
  const judged = judge(batch, { item, key, stepId: letter.step_id, others: await findOpenLetters(tx, key) });
  if ('refused' in judged) return { ...none, refused: judged.refused.toBody() };
  const { decided, taken } = judged;
  const replayed = decided.state.steps.find((step) => step.replayOf === item.letterId);
  const reply = { letterId: item.letterId, taskId: key.taskId, attempt: (replayed?.attempt ?? 0) + 1 };
  if (item.dryRun) return { ...none, refused: null, reply };
  batch.apply(key, decided);
  const edited = item.input === null ? null : Buffer.from(JSON.stringify(item.input));
  await markReplayed(tx, item.letterId, { status: 'replaying', batch: item.batch, edited });
  for (const other of taken) await markReplayed(tx, other, { status: 'replaying', batch: item.batch });
  await saveReply(tx, item.tenantId, item.requestId, reply);
  return { state: decided.state, now: batch.now, refused: null, reply };
}

type Replay = {
  readonly item: ReplayItem;
  readonly key: TaskKey;
  readonly stepId: string;
  readonly others: readonly { readonly letterId: string; readonly stepId: string }[];
};
type Judged = { readonly refused: AppError } | { readonly decided: Decided; readonly taken: readonly string[] };

function judge(batch: Batch, { item, key, stepId, others }: Replay): Judged {
  const stored = batch.find(key);
  if (stored === undefined) return { refused: new AppError('NOT_FOUND', `task "${key.taskId}" is no longer kept`) };
  const step = findStep(stored.state, stepId);
  const anyFailed = stored.state.steps.some((candidate) => candidate.phase === 'failed');
  if (step?.phase === 'done' && anyFailed)
    return { refused: new AppError('ALREADY_COMPLETED', `step "${stepId}" succeeded since; another one failed`) };
  if (item.input !== null) {
    if (step?.phase === 'done')
      return { refused: new AppError('INVALID_INPUT', `step "${stepId}" did its work: there is no input to edit`) };
    try {
      checkInputEdit(stored.state, stepId, item.input);
    } catch (error) {
      return { refused: toAppError(error) };
    }
  }
  const letter = { letterId: item.letterId, stepId };
  const decided = decide(stored.state, { kind: 'retry', letter }, batch.now, batch.options);
  const refusal = decided.changes.map((change) => change.event).find((event) => event.kind === 'refused');
  if (refusal !== undefined) return { refused: new AppError(refusal.code, refusal.detail) };
  const otherLetters = others.filter((other) => other.letterId !== item.letterId);
  return attachReplay(stored.state, decided, {
    stepId,
    input: item.input,
    others: otherLetters,
  });
}

export async function findReplayReply(
  tx: Tx,
  { tenantId, requestId }: { readonly tenantId: string; readonly requestId: string },
): Promise<ReplayValue | undefined> {
  const reply = await findReply(tx, tenantId, requestId);
  if (reply === undefined) return undefined;
  const parsed = ReplayValueSchema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new AppError('INVALID_INPUT', `request id "${requestId}" was used for another request: choose a new one`);
}
