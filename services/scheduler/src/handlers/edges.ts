import type { ReadyChecks } from '@cleanslate/runtime/service';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { serveClaims } from './claims.ts';
import type { HandlerContext } from './context.ts';
import { serveControls } from './controls.ts';
import { startDeadLetters } from './dead-letters.ts';
import { serveHeartbeats } from './heartbeats.ts';
import { startIntake } from './intake.ts';
import { serveModelCalls } from './model-calls.ts';
import type { Overtaker } from './overtake.ts';
import { startReports } from './reports.ts';
import { serveSchedules } from './schedules.ts';
import { serveSessions } from './sessions.ts';
import { startSettled } from './settled.ts';
import { serveTaskControls } from './task-controls.ts';
import { serveWorkflows } from './workflows.ts';

export type EdgesContext = HandlerContext & {
  readonly registry: WorkflowRegistry;
  readonly overtaker: Overtaker;
  /** Reads again which workflows workers registered. */
  readonly learn: () => Promise<void>;
  /** A worker announced other slots than before. */
  readonly onSlots: () => void;
  /** A message is to go back into its stream. */
  readonly onReplay: () => void;
  readonly modelLeaseMs: number;
};

export type Edges = {
  /** One for each consumer. */
  readonly checks: ReadyChecks;
  /** Takes nothing more. Resolves once what was taken is answered. */
  stop(): Promise<void>;
};

/** Everything that messages come in by: endpoints, and the consumers of the scheduler's streams. */
export function startEdges(context: EdgesContext): Edges {
  const served = [
    serveClaims(context),
    serveHeartbeats(context, context.onSlots),
    ...serveSchedules(context),
    ...serveSessions(context),
    ...serveControls(context),
    ...serveTaskControls(context),
    serveModelCalls(context),
    serveWorkflows(context),
  ];
  const pulls = {
    intake: startIntake(context),
    reports: startReports(context),
    settled: startSettled(context),
    deadLetters: startDeadLetters(context),
  };
  return {
    checks: Object.fromEntries(
      Object.entries(pulls).map(([name, pull]) => [
        name,
        () => (pull.health().ready ? undefined : (pull.health().problem ?? 'starting')),
      ]),
    ),
    stop: async () => {
      await Promise.all([...Object.values(pulls).map((pull) => pull.drain()), ...served.map((each) => each.stop())]);
    },
  };
}
