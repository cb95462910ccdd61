import type { MemoryMeasures } from '@cleanslate/contracts';
import type { Logger } from '@cleanslate/runtime';
import {
  countRecentRevisions,
  type Database,
  type Duty,
  endTurn,
  findKnowledgeTenants,
  type KnowledgeOutboxRow,
  maintainIndexes,
  takeTurn,
  withTransaction,
} from '@cleanslate/store';
import { launder, toOutcomes } from './launder.ts';
import type { LaunderingMetrics } from './laundering-metrics.ts';

export type LaunderingClockOptions = {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: LaunderingMetrics;
  readonly onWritten: (outbox: readonly KnowledgeOutboxRow[], outcomes: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
  /** Time between two runs. */
  readonly everyMs: number;
  /** How often to check whether one is due. Milliseconds, default 30 s. */
  readonly lookMs?: number;
};

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const LOOK_MS = 30_000;
/** A leader that died in a round is replaced after this. */
const LEASE_MS = 15 * 60_000;
const INDEXES_EVERY_MS = 6 * 3_600_000;
/** Fewer revisions in the last minute count as quiet. */
const QUIET_REVISIONS = 20;
const INDEX_TIMEOUT_MS = 10 * 60_000;

/** Launders every tenant's knowledge and maintains the indexes, each when it is due, one replica at a time. */
export class LaunderingClock {
  readonly #options: LaunderingClockOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: LaunderingClockOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, this.#options.lookMs ?? LOOK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { onError } = this.#options;
    await this.#take('laundering', () => this.#launderAll()).catch(onError);
    await this.#take('indexes', () => this.#keepIndexes()).catch(onError);
  }

  /** Runs `work` if the duty is due and nobody else is at it; `work` says when it is due again. */
  async #take(duty: Duty, work: () => Promise<number>): Promise<void> {
    const { database } = this.#options;
    if (this.#stopped.signal.aborted) return;
    if (!(await withTransaction(database, MAINTAINER, (tx) => takeTurn(tx, duty, LEASE_MS)))) return;
    const dueInMs = await work();
    await withTransaction(database, MAINTAINER, (tx) => endTurn(tx, duty, dueInMs));
  }

  async #launderAll(): Promise<number> {
    const { database, onError, onWritten, everyMs, logger, metrics } = this.#options;
    const startedAt = performance.now();
    const { signal } = this.#stopped;
    const tenants = await withTransaction(database, { ...MAINTAINER, readOnly: true }, findKnowledgeTenants);
    const measures: MemoryMeasures[] = [];
    let more = false;
    for (const tenantId of tenants) {
      if (signal.aborted) return 0;
      try {
        const run = await launder(database, tenantId, 'timetable', signal);
        onWritten(run.outbox, toOutcomes(run.report.actions));
        metrics.ran(run);
        measures.push(run.report.measures);
        more ||= run.report.more;
        const { actions, proposals, reportId } = run.report;
        logger.info({ tenantId, reportId, actions: actions.length, proposals: proposals.length }, 'laundered');
        // A long round over many tenants keeps its turn.
        await withTransaction(database, MAINTAINER, (tx) => endTurn(tx, 'laundering', LEASE_MS));
      } catch (error) {
        onError(error);
      }
    }
    metrics.round((performance.now() - startedAt) / 1_000, measures);
    return more ? LOOK_MS : everyMs;
  }

  async #keepIndexes(): Promise<number> {
    const { database } = this.#options;
    const recent = await withTransaction(database, { ...MAINTAINER, readOnly: true }, countRecentRevisions);
    if (recent > QUIET_REVISIONS) return LOOK_MS;
    await withTransaction(database, { ...MAINTAINER, queryTimeoutMs: INDEX_TIMEOUT_MS }, maintainIndexes);
    return INDEXES_EVERY_MS;
  }
}
