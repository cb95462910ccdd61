import { AppError, type ErrorBody, type Pin } from '@cleanslate/contracts';
import { accept, type MachineOptions, toDuplicateAccepted, toKeyedRequest, toRefused } from '@cleanslate/domain/ledger';
import type { Span, Tracer } from '@cleanslate/runtime/service';
import {
  findIdleTenants,
  findKnownSubmits,
  findSubmitKeys,
  type KnownSubmit,
  keyOf,
  putObjects,
  type readKnowledgeRevision,
  type TaskKey,
  type Tx,
  takeTaskSeqs,
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

/** Begins the new tasks of a batch, with what their rows will refer to: those are written with the batch. */
export async function beginAccepted(
  tx: Tx,
  epoch: number,
  items: readonly SubmitItem[],
  { revision, nowMs }: Awaited<ReturnType<typeof readKnowledgeRevision>>,
  { options, tracer }: { readonly options: MachineOptions; readonly tracer: Tracer },
): Promise<readonly Accepted[]> {
  if (items.length === 0) return [];
  const plans = new Map(items.map((item) => [item.planHash, item]));
  const [taskSeqs] = await Promise.all([
    takeTaskSeqs(tx, items.length),
    ...[...plans.values()].map((item) => upsertPlan(tx, item.planHash, item.submit.workflow, item.plan)),
    putObjects(
      tx,
      items.flatMap((item) => item.objects),
    ),
  ]);
  return items.map((item, i) => {
    const span = startAccepting(tracer, item);
    // Everything the task causes continues this span.
    const traceparent = span.traceparent ?? null;
    const pin = pinOf(item, revision, nowMs);
    const decided = accept(epoch, { ...item, traceparent, pin }, nowMs, options);
    return { item, taskSeq: taskSeqs[i] ?? Number.NaN, decided, span };
  });
}

function startAccepting(tracer: Tracer, { tenantId, taskId, submit, traceparent }: SubmitItem): Span {
  const attributes = { 'slate.tenant': tenantId, 'slate.task': taskId, 'slate.workflow': submit.workflow };
  return tracer.start('accept', { parent: traceparent, kind: 'consumer', attributes });
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
