import type { Bus } from '@cleanslate/bus';
import type { CompiledWorkflow, MachineOptions } from '@cleanslate/domain/ledger';
import type { Logger, Metrics, Tracer } from '@cleanslate/runtime/service';
import type { Database } from '@cleanslate/store/ledger';

/** What a scheduler replica is started with. */
export type SchedulerOptions = {
  readonly bus: Bus;
  readonly database: Database;
  readonly workflows: readonly CompiledWorkflow[];
  readonly machine: Partial<MachineOptions>;
  readonly sweepMs: number;
  /** How long finished tasks stay where their tenant sets nothing else. Days. */
  readonly retainDays: number;
  readonly reconcileMs: number;
  /** How long an ended dead letter is kept. */
  readonly letterRetainDays: number;
  /** How long a message of a newer version waits for a scheduler that reads it. */
  readonly rolloutMs: number;
  /** How long a worker that died holds its place among the requests to a model. */
  readonly modelLeaseMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
};
