import { isAppError } from '@cleanslate/contracts';
import type { Task } from '@cleanslate/domain/ledger';
import type { Metrics, Span, Tracer } from '@cleanslate/runtime/service';
import type { Changes } from '@cleanslate/store/ledger';
import type { LedgerItem } from './items.ts';

/** What a committed batch has to tell. */
export type BatchNews = {
  readonly changes: Pick<Changes, 'transitions' | 'refusals'>;
  /** Tasks that came in, with the span of their acceptance. */
  readonly accepted: readonly { readonly workflow: string; readonly span: Span | undefined }[];
  /** Tasks that came to an end. */
  readonly ended: readonly Task[];
};

export type LedgerTelemetry = {
  readonly tracer: Tracer;
  committed(items: readonly LedgerItem[], news: BatchNews, seconds: number): void;
  failed(error: unknown): void;
};

const COMMIT_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const TASK_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];
/** Workflows of their own names: beyond this many they share one series. */
const MAX_WORKFLOWS = 100;

/** Counts and traces what the ledger committed: never before the commit, and nothing here can undo it. */
export function createLedgerTelemetry(metrics: Metrics, tracer: Tracer): LedgerTelemetry {
  const seconds = metrics.histogram(
    'slate_ledger_commit_seconds',
    'How long a ledger transaction took',
    COMMIT_SECONDS,
  );
  const items = metrics.counter('slate_ledger_items_total', 'Inputs applied to the ledger', ['kind']);
  const failures = metrics.counter('slate_ledger_failures_total', 'Ledger transactions that failed', ['code']);
  const transitions = metrics.counter('slate_transitions_total', 'Committed transitions', ['of', 'to', 'trigger']);
  const refusals = metrics.counter('slate_refusals_total', 'Inputs refused; STALE_ATTEMPT: late results', ['code']);
  const accepted = metrics.counter('slate_tasks_accepted_total', 'Tasks taken in', ['workflow']);
  const ended = metrics.histogram('slate_task_seconds', 'From acceptance to the end', TASK_SECONDS, [
    'workflow',
    'state',
  ]);
  const workflowLabel = boundedLabel(MAX_WORKFLOWS);
  return {
    tracer,
    committed: (applied, news, took) => {
      seconds.observe(took);
      for (const [kind, count] of tally(applied.map((item) => item.kind))) items.inc({ kind }, count);
      for (const [name, count] of tally(news.changes.transitions.map(toName))) {
        const [of = '', to = '', trigger = ''] = name.split(' ');
        transitions.inc({ of, to, trigger }, count);
      }
      for (const { code } of news.changes.refusals) refusals.inc({ code });
      for (const { workflow, span } of news.accepted) {
        accepted.inc({ workflow: workflowLabel(workflow) });
        span?.end();
      }
      for (const task of news.ended) {
        const { workflow, state, createdAt, updatedAt } = task;
        ended.observe({ workflow: workflowLabel(workflow), state }, Math.max(0, updatedAt - createdAt) / 1_000);
        traceTask(tracer, task);
      }
    },
    failed: (error) => failures.inc({ code: isAppError(error) ? error.code : 'UNEXPECTED' }),
  };
}

/** The whole life of a task as one span, beside the spans of its steps. */
function traceTask(tracer: Tracer, { workflow, tenantId, taskId, state, createdAt, traceparent, error }: Task): void {
  const attributes = {
    'slate.workflow': workflow,
    'slate.tenant': tenantId,
    'slate.task': taskId,
    'slate.state': state,
  };
  if (traceparent === null) return;
  tracer.start('task', { parent: traceparent, startMs: createdAt, attributes }).end({ errorCode: error?.code });
}

function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < limit) known.add(value);
    return known.has(value) ? value : 'other';
  };
}

function toName({ stepId, to, trigger }: Changes['transitions'][number]): string {
  return `${stepId === null ? 'task' : 'step'} ${to} ${trigger}`;
}

/** How often each name occurs: a counter is told once a batch, not once an item. */
function tally<N extends string>(names: readonly N[]): ReadonlyMap<N, number> {
  const counts = new Map<N, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
