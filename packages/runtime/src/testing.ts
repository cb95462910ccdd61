import { canonicalJson } from '@cleanslate/contracts';
import { offlineModel } from '@cleanslate/llm';
import type { Executor, StepContext } from './executor/executor.ts';
import { createLogger } from './log/logger.ts';
import { buildContext } from './memory/build-context.ts';
import { memorySessions } from './memory/memory-sessions.ts';
import { openStepSessions } from './memory/session.ts';
import { openStepModel } from './worker/step-model.ts';

export { memorySessions } from './memory/memory-sessions.ts';
export { openStepSessions } from './memory/session.ts';
export type { SessionStore } from './memory/session-store.ts';
export { openStepModel } from './worker/step-model.ts';
export { toReportedError } from './worker/step-report.ts';

/** A step's context with nothing behind it, for tests of an executor alone; override what the executor uses. */
export function fakeStepContext(overrides: Partial<StepContext> = {}): StepContext {
  const { signal } = new AbortController();
  const attempt = { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId: 'step', attempt: 1 };
  const logger = () => createLogger({ service: 'test', level: 'silent' });
  return {
    attempt,
    round: 1,
    tenantId: 'acme',
    taskId: 'task-1',
    workflow: 'test',
    idempotencyKey: 'acme/task-1/step',
    pin: { validAt: '2026-01-01T00:00:00.000Z', revision: 0 },
    signal,
    deadline: () => 60_000,
    logger: logger(),
    fence: async () => undefined,
    progress: () => undefined,
    blackboard: { propose: async () => 'candidate-1' },
    model: openStepModel(offlineModel(), { signal, attempt, pure: false }).model,
    context: buildContext,
    session: openStepSessions(memorySessions(), {
      fence: { ...attempt, claimId: 'claim-1' },
      round: 1,
      signal,
      logger,
      requireOpen: () => undefined,
    }).open,
    documents: { read: async () => '' },
    ...overrides,
  };
}

/**
 * Runs two commands in both orders through one executor and throws where an output depends on the order: then something
 * is remembered between commands.
 */
export async function assertRemembersNothing(
  executor: Executor,
  inputs: readonly [unknown, unknown],
  context: () => StepContext = fakeStepContext,
): Promise<void> {
  const [a, b] = inputs;
  const first = [await executor.execute(context(), a), await executor.execute(context(), b)];
  const second = [await executor.execute(context(), b), await executor.execute(context(), a)].reverse();
  for (const i of [0, 1]) {
    const outputs = [first[i], second[i]].map(canonicalJson);
    if (outputs[0] === outputs[1]) continue;
    throw new Error(
      `${executor.name} remembers something: command ${i} gave ${outputs[0]}, in the other order ${outputs[1]}`,
    );
  }
}
