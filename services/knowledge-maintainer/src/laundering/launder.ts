import type { LaunderAction, LaunderReport } from '@cleanslate/contracts';
import { planLaundering } from '@cleanslate/domain';
import {
  type Database,
  findLaunderable,
  getLastRevision,
  insertReport,
  type KnowledgeOutboxRow,
  type LaunderBounds,
  measureMemory,
  readClock,
  withTransaction,
} from '@cleanslate/store';
import { carryOutActions } from './carry-out-actions.ts';

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const BOUNDS: LaunderBounds = { groups: 2_000, proposals: 200 };
/** Most actions of one run; the next continues. */
const MOST = 2_000;
/** In one transaction: writers wait no longer than that takes. */
const PORTION = 200;

export type LaunderRun = { readonly report: LaunderReport; readonly outbox: readonly KnowledgeOutboxRow[] };

type Planned = Pick<LaunderReport, 'actions' | 'proposals' | 'more' | 'measures' | 'revision' | 'startedAt'>;

/** What a run would do, as of this moment; nothing is written. */
export async function previewLaundering(database: Database, tenantId: string): Promise<LaunderReport> {
  const planned = await plan(database, tenantId);
  return { ...planned, reportId: null, finishedAt: planned.startedAt, askedBy: 'person' };
}

/**
 * Launders one tenant's knowledge: plans once, then carries the plan out in portions, and keeps the report. An abort
 * takes effect between two portions.
 */
export async function launder(
  database: Database,
  tenantId: string,
  askedBy: LaunderReport['askedBy'],
  signal?: AbortSignal,
): Promise<LaunderRun> {
  const planned = await plan(database, tenantId);
  const actions: LaunderAction[] = [];
  const outbox: KnowledgeOutboxRow[] = [];
  let left = planned.actions;
  for (; left.length > 0 && !signal?.aborted; left = left.slice(PORTION)) {
    const { done, outbox: told } = await carryOutActions(database, tenantId, left.slice(0, PORTION));
    actions.push(...done);
    outbox.push(...told);
  }
  const report = await withTransaction(database, MAINTAINER, async (tx) => {
    const finished = { ...planned, actions, askedBy, more: planned.more || left.length > 0 };
    const finishedAt = (await readClock(tx)).toISOString();
    const times = { finishedAt, revision: await getLastRevision(tx) };
    const whole = { ...finished, ...times };
    return { ...whole, reportId: await insertReport(tx, tenantId, whole) };
  });
  return { report, outbox };
}

async function plan(database: Database, tenantId: string): Promise<Planned> {
  const scope = { ...MAINTAINER, readOnly: true } as const;
  return await withTransaction(database, scope, async (tx) => {
    const now = await readClock(tx);
    const findings = await findLaunderable(tx, tenantId, now, BOUNDS);
    const { actions, proposals } = planLaundering(findings, now.getTime());
    return {
      startedAt: now.toISOString(),
      revision: await getLastRevision(tx),
      actions: actions.slice(0, MOST),
      proposals: proposals.slice(0, 4 * BOUNDS.proposals),
      more: findings.more || actions.length > MOST,
      measures: await measureMemory(tx, tenantId, now),
    };
  });
}

/** As the metric of decisions names them. */
export function toOutcomes(actions: readonly LaunderAction[]): string[] {
  return actions.map(({ action }) => (action === 'dispute' ? 'disputed' : 'archived'));
}
