import {
  AppError,
  CandidatesSettled,
  DeadLettered,
  type DeadLetterReplay,
  decodeFromService,
  decodeMessage,
  type Envelope,
  KnowledgePropose,
  parseSubject,
  type RequestOf,
  type ValueOf,
} from '@cleanslate/contracts';
import {
  confirmSettlement,
  findLetter,
  findLetterForUpdate,
  insertMessageLetter,
  markReplayed,
  type ReplayableLetter,
  saveReply,
  type Tx,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { findReplayReply } from '../ledger/apply-replays.ts';
import type { InputItem, LetterRun, SubmitItem } from '../ledger/items.ts';
import { judgeReplay } from '../ledger/judge-replay.ts';
import { toLetterReason } from '../ledger/letter-reason.ts';
import { readSubmit } from '../ledger/read-submit.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { type HandlerContext, readTraceparent } from './context.ts';
import { readReport } from './reports.ts';

export type ReplayContext = Pick<HandlerContext, 'ledger'> & { readonly registry: WorkflowRegistry };
type Request = RequestOf<typeof DeadLetterReplay>;
type Value = ValueOf<typeof DeadLetterReplay>;
type Wish = { readonly tenantId: string; readonly requestId: string; readonly data: Request };

/**
 * Replays one letter. Work of a step: the ledger's move failed → pending. A message goes to the one reader that could
 * not read it, never to others of its stream: what the scheduler reads is applied here and closed in the same
 * transaction, what another service reads goes back into the stream. Everything is read from the original bytes (or the
 * edit), checked before anything is changed. Throws the reason where it makes no sense.
 */
export async function replayLetter(context: ReplayContext, wish: Wish): Promise<Value> {
  const { tenantId, data } = wish;
  const { database } = context.ledger.context;
  const letter = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, (tx) =>
    findLetter(tx, tenantId, data.letterId),
  );
  if (letter !== undefined && (letter.task_id === null || letter.step_id === null))
    return await replayMessage(context, wish, letter);
  if (data.edit !== undefined && !('input' in data.edit))
    throw new AppError('INVALID_INPUT', 'edit.body is for messages; the letter is of a step: give edit.input');
  const { reply, refused } = await context.ledger.apply({
    kind: 'replay',
    tenantId,
    letterId: data.letterId,
    requestId: wish.requestId,
    force: data.force ?? false,
    batch: data.batch ?? null,
    dryRun: data.dryRun ?? false,
    input: data.edit !== undefined && 'input' in data.edit ? data.edit.input : null,
  });
  if (refused !== null) throw AppError.fromBody(refused);
  return reply ?? { letterId: data.letterId, taskId: null, attempt: null };
}

async function replayMessage(context: ReplayContext, wish: Wish, letter: ReplayableLetter): Promise<Value> {
  const { tenantId, data, requestId } = wish;
  const run: LetterRun = {
    letterId: letter.letter_id,
    requestId,
    force: data.force ?? false,
    batch: data.batch ?? null,
    edited: toEditedBytes(data),
  };
  // Under no lock yet: only so that a refusal names the letter's state before its bytes' faults.
  const refusal = judgeReplay(letter, run);
  if (refusal !== null && !(await wasAnswered(context, wish))) throw refusal;
  const bytes = run.edited ?? letter.body ?? Buffer.alloc(0);
  const nothing = { letterId: letter.letter_id, taskId: null, attempt: null };
  if (letter.stream === 'INTAKE' || letter.stream === 'REPORTS') {
    const item = letter.stream === 'INTAKE' ? toSubmit(context, tenantId, letter, bytes) : toReport(letter, run);
    if (data.dryRun) return { ...nothing, taskId: item.taskId };
    const { reply, refused } = await context.ledger.apply({ ...item, letter: run });
    if (refused !== null) throw AppError.fromBody(refused);
    return reply ?? nothing;
  }
  const apply = readMessage(tenantId, letter, run, bytes);
  if (data.dryRun) return nothing;
  return await withTransaction(context.ledger.context.database, LEDGER_SCOPE, async (tx) => {
    const locked = await findLetterForUpdate(tx, tenantId, letter.letter_id);
    const known = await findReplayReply(tx, { tenantId, requestId });
    if (known !== undefined) return known;
    const late = judgeReplay(locked, run);
    if (late !== null) throw late;
    const status = await apply(tx);
    await markReplayed(tx, letter.letter_id, { status, batch: run.batch, edited: run.edited });
    await saveReply(tx, tenantId, requestId, nothing);
    return nothing;
  });
}

function toEditedBytes({ edit }: Request): Uint8Array | null {
  if (edit === undefined) return null;
  if ('body' in edit) return Buffer.from(edit.body, 'base64');
  throw new AppError('INVALID_INPUT', 'edit.input is for steps; the letter is a message: give edit.body');
}

/** The same request again, after its answer was lost: it is answered the same, not refused. */
async function wasAnswered({ ledger }: ReplayContext, { tenantId, requestId }: Wish): Promise<boolean> {
  const scope = { ...LEDGER_SCOPE, readOnly: true };
  const reply = await withTransaction(ledger.context.database, scope, (tx) =>
    findReplayReply(tx, { tenantId, requestId }),
  );
  return reply !== undefined;
}

function toSubmit(
  { registry }: ReplayContext,
  tenantId: string,
  { headers }: ReplayableLetter,
  body: Uint8Array,
): SubmitItem {
  return readSubmit({ tenantId, body, traceparent: readTraceparent(headers['traceparent']?.[0]) }, registry);
}

/** A report is a worker's evidence of one attempt: it can be read again, never rewritten. */
function toReport(letter: ReplayableLetter, { edited }: LetterRun): InputItem {
  if (edited !== null) throw new AppError('INVALID_INPUT', 'a report is not edited: replay the letter of its step');
  return readReport(letter.subject ?? '', letter.body ?? Buffer.alloc(0));
}

/** What the replay does with the message. Throws where it can't be read, or where replaying it makes no sense. */
function readMessage(
  tenantId: string,
  letter: ReplayableLetter,
  { edited }: LetterRun,
  bytes: Uint8Array,
): (tx: Tx) => Promise<'closed' | 'replaying'> {
  if (letter.stream === 'BLACKBOARD') {
    assertSame(letter, decodeMessage([KnowledgePropose], bytes).envelope);
    return async () => 'replaying';
  }
  if (letter.stream === 'COMMANDS') {
    const what = 'commands are derived from the ledger and rung again by it';
    throw new AppError('INVALID_INPUT', `${what}: discard the letter, or retry the task`);
  }
  if (edited !== null) throw new AppError('INVALID_INPUT', `messages of ${letter.stream} are not edited`);
  if (letter.stream === 'DLQ') {
    const { data } = decodeMessage([DeadLettered], bytes).envelope;
    return async (tx) => {
      await insertMessageLetter(tx, { ...data, error: toLetterReason(data.error) }, tenantId);
      return 'closed';
    };
  }
  if (letter.reason === 'CANDIDATE_MISSING')
    throw new AppError(
      'INVALID_INPUT',
      'its candidates never came: replay their own letters, of the stream BLACKBOARD',
    );
  const { envelope } = decodeFromService([CandidatesSettled], bytes);
  assertSame(letter, envelope);
  const { taskId, missing } = envelope.data;
  return async (tx) => {
    await confirmSettlement(tx, tenantId, taskId, missing);
    return 'closed';
  };
}

function assertSame({ subject }: ReplayableLetter, envelope: Envelope): void {
  const ids = parseSubject(subject ?? '');
  if (ids?.tenantId === envelope.tenantid && (ids.taskId === undefined || ids.taskId === envelope.taskid)) return;
  throw new AppError('TENANT_MISMATCH', `envelope and subject "${subject ?? ''}" name different tenants or tasks`);
}
