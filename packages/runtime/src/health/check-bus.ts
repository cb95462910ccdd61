import type { Bus } from '@cleanslate/bus';

/** Below the health server's own limit for a check. */
const ANSWER_MS = 1_500;

/**
 * Readiness of the broker: its answer to a ping, asked for now. A connection that was cut silently looks fine for half
 * a minute to anyone who only looks at its state.
 */
export async function checkBus(bus: Bus): Promise<string | undefined> {
  const problems = bus.problems();
  if (problems.length > 0) return problems.join('; ');
  try {
    await bus.flush(ANSWER_MS);
    return undefined;
  } catch {
    return `the broker does not answer within ${ANSWER_MS} ms`;
  }
}
