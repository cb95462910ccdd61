import { AppError, type ErrorBody, type Pin } from '@cleanslate/contracts';
import {
  accept,
  type MachineOptions,
  type Task,
  toDuplicateAccepted,
  toKeyedRequest,
  toRefused,
} from '@cleanslate/domain/ledger';
import type { Span, Tracer } from '@cleanslate/runtime/service';
import {
  findIdleTenants,
  findKnownSubmits,
  findSubmitKeys,
  insertTasks,
  type KnownSubmit,
  keyOf,
  putObjects,
  type readKnowledgeRevision,
  type TaskKey,
  type Tx,
  upsertPlan,
} from '@cleanslate/store/ledger';
import type { Batch } from './batch.ts';
import type { LedgerResult, SubmitItem } from './items.ts';

/** A submit that is new, one whose task is known, or one the ledger refuses. */
export type SubmitPlan =
  | { readonly kind: 'new'; readonly item: SubmitItem }
  | { readonly kind: 'known'; readonly item: SubmitItem; readonly key: TaskKey }
  | { readonly kind: 'refused'; readonly item: SubmitItem; readonly error: ErrorBody };

/** Looks up tenants, task ids and keys of a batch's submits; submits of one batch are compared with each other too. */
export async function planSubmits(tx: Tx, items: readonly SubmitItem[]): Promise<readonly SubmitPlan[]> {
  if (items.length === 0) return [];
  const [idle, known] = await Promise.all([
    findIdleTenants(tx, [...new Set(items.map((item) => item.tenantId))]),
    findKnownSubmits(
      tx,
      items.map((item) => ({ tenantId: item.tenantId, taskId: item.taskId, key: item.submit.key ?? null })),
    ),
  ]);
  const keyed = known.filter(({ bodyHash }) => bodyHash.startsWith('keyed:'));
  const keys = await findSubmitKeys(
    tx,
    keyed.map(({ tenantId }) => tenantId),
  );
  const byId = new Map<string, KnownSubmit>();
  for (const submit of known) remember(byId, submit);
  return items.map((item) => {
    const found =
      byId.get(keyOf(item)) ??
      (item.submit.key === undefined ? undefined : byId.get(nameOf(item.tenantId, item.submit.key)));
    if (found === undefined) {
      // Asked of new work only: one that was accepted before is answered the same, whatever became of its tenant.
      const why = idle.get(item.tenantId);
      if (why !== undefined) return { kind: 'refused', item, error: why.toBody() };
      remember(byId, { ...item, idempotencyKey: item.submit.key ?? null, state: 'pending' });
      return { kind: 'new', item };
    }
    if (saysTheSame(found, item, keys.get(item.tenantId)) && found.idempotencyKey === (item.submit.key ?? null))
      return { kind: 'known', item, key: { tenantId: found.tenantId, taskId: found.taskId } };
    const what =
      found.idempotencyKey !== null && found.idempotencyKey === item.submit.key
        ? `key "${item.submit.key}"`
        : `task id "${item.taskId}"`;
    const conflict = `${what} was used with another workflow, input or key: choose a new one, or send the same again`;
    return { kind: 'refused', item, error: new AppError('IDEMPOTENCY_CONFLICT', conflict).toBody() };
  });
}

/** `key`: the tenant's, where something was erased from one of its tasks: the hash of that one's submit is keyed. */
function saysTheSame(found: KnownSubmit, { bodyHash }: SubmitItem, key: Uint8Array | undefined): boolean {
  return found.bodyHash === bodyHash || (key !== undefined && found.bodyHash === toKeyedRequest(key, bodyHash));
}

type Accepted = {
  readonly item: SubmitItem;
  readonly taskSeq: number;
  readonly decided: ReturnType<typeof accept>;
  readonly span: Span;
};

/** Inserts the new tasks of a batch. Throws where another scheduler committed one of them meanwhile: the whole batch is then tried again. */
export async function insertAccepted(
  tx: Tx,
  epoch: number,
  items: readonly SubmitItem[],
  { revision, nowMs }: Awaited<ReturnType<typeof readKnowledgeRevision>>,
  { options, tracer }: { readonly options: MachineOptions; readonly tracer: Tracer },
): Promise<readonly Accepted[]> {
  if (items.length === 0) return [];
  const plans = new Map(items.map((item) => [item.planHash, item]));
  const accepted = items.map((item) => {
    const span = startAccepting(tracer, item);
    // Everything the task causes continues this span.
    const traceparent = span.traceparent ?? null;
    return {
      item,
      span,
      decided: accept(epoch, { ...item, traceparent, pin: pinOf(item, revision, nowMs) }, nowMs, options),
    };
  });
  // One round trip, done in this order.
  const needs = [
    ...[...plans.values()].map((item) => upsertPlan(tx, item.planHash, item.submit.workflow, item.plan)),
    putObjects(
      tx,
      items.flatMap((item) => item.objects),
    ),
  ];
  const [sequences] = await Promise.all([
    insertTasks(
      tx,
      accepted.map(({ decided }): Task => decided.state.task),
    ),
    ...needs,
  ]);
  return accepted.map(({ item, decided, span }) => {
    const taskSeq = sequences.get(keyOf(item));
    if (taskSeq === undefined)
      throw new LostRaceError(`task ${keyOf(item)} was committed by another scheduler at the same moment`);
    return { item, decided, taskSeq, span };
  });
}

function startAccepting(tracer: Tracer, { tenantId, taskId, submit, traceparent }: SubmitItem): Span {
  const attributes = { 'slate.tenant': tenantId, 'slate.task': taskId, 'slate.workflow': submit.workflow };
  return tracer.start('accept', { parent: traceparent, kind: 'consumer', attributes });
}

/** Tried again like a serialization failure, and for the same reason. */
class LostRaceError extends Error {
  readonly code = '40001';
}

export function answerKnown(batch: Batch, plan: Extract<SubmitPlan, { kind: 'known' }>): LedgerResult {
  const stored = batch.find(plan.key);
  if (stored !== undefined) batch.tell(toDuplicateAccepted(stored.state, plan.item.submitId, batch.context));
  return { state: stored?.state, now: batch.now, refused: null };
}

export function answerRefused(
  batch: Batch,
  item: TaskKey & { readonly submitId: string | null },
  error: ErrorBody,
): LedgerResult {
  batch.tell(toRefused(batch.epoch, item.tenantId, item.taskId, item.submitId ?? 'unknown', error, batch.context));
  batch.refuse(item, error);
  return { state: undefined, now: batch.now, refused: error };
}

function pinOf(item: SubmitItem, revision: number, nowMs: number): Pin {
  const validAt = item.submit.validAt === undefined ? new Date(nowMs) : new Date(item.submit.validAt);
  return { validAt: validAt.toISOString(), revision: Math.min(item.submit.revision ?? revision, revision) };
}

function remember(byId: Map<string, KnownSubmit>, submit: KnownSubmit): void {
  byId.set(keyOf(submit), submit);
  if (submit.idempotencyKey !== null) byId.set(nameOf(submit.tenantId, submit.idempotencyKey), submit);
}

/** A key's name can't be mistaken for a task's: task ids hold no blank. */
function nameOf(tenantId: string, key: string): string {
  return `${tenantId} ${key}`;
}
