import { STREAMS } from '@cleanslate/contracts';
import { countMessages } from '../fixtures/conservation.ts';
import type { ScriptedPlatform } from '../fixtures/scripted-platform.ts';

/**
 * Where the work that did not end is, and what those who should move it say: the evidence of a failed run, which
 * can't be looked at afterwards.
 */
export async function describeOpen({ platform, sql }: ScriptedPlatform): Promise<string> {
  const steps = await sql(
    `SELECT t.state, s.phase, s.role, count(*)::int4 AS n, min(s.attempt) AS min_attempt, max(s.attempt) AS max_attempt,
       round(extract(epoch FROM min(s.due_at) - now())::numeric, 1) AS first_due_s, round(extract(epoch FROM max(s.due_at) - now())::numeric, 1) AS last_due_s
     FROM ledger.steps s JOIN ledger.tasks t USING (task_seq) WHERE t.state NOT IN ('completed', 'failed') GROUP BY 1, 2, 3 ORDER BY 4 DESC`,
  );
  const samples = await sql(
    `SELECT t.task_id, s.* FROM ledger.steps s JOIN ledger.tasks t USING (task_seq)
     WHERE t.state NOT IN ('completed', 'failed') AND s.phase NOT IN ('blocked', 'done') ORDER BY s.due_at LIMIT 3`,
  );
  const workers = await sql('SELECT *, now() FROM ledger.workers');
  const streams = await Promise.all(
    STREAMS.map(async ({ name }) => `${name} ${await countMessages(platform, name).catch(() => '?')}`),
  );
  const health = await Promise.all(
    platform.services
      .filter((service) => service.exit === undefined)
      .map(async (service) => {
        const { name, pid, healthUrl } = service;
        const ready = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
          (answer) => answer.text(),
          (error: unknown) => String(error),
        );
        return `${name} ${pid}: ${ready}\n${service.lastLines(40).filter(isTold).slice(-4).join('\n')}`;
      }),
  );
  return [steps, samples, workers, streams, ...health]
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part, null, 1)))
    .join('\n');
}

function isTold(line: string): boolean {
  return !line.startsWith('{"event":"memory"') && !line.includes('"level":"info"');
}
