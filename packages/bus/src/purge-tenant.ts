import type { StreamName } from '@cleanslate/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Bus } from './bus.ts';

const SUBJECTS: readonly (readonly [StreamName, (tenantId: string) => string])[] = [
  ['INTAKE', (tenant) => `cmd.task.${tenant}`],
  ['COMMANDS', (tenant) => `cmd.work.*.${tenant}.*`],
  ['COMMANDS', (tenant) => `cmd.knowledge.${tenant}`],
  ['REPORTS', (tenant) => `rpt.*.${tenant}.*`],
  ['BLACKBOARD', (tenant) => `blackboard.${tenant}.*`],
  ['EVENTS', (tenant) => `evt.task.${tenant}.*`],
  ['EVENTS', (tenant) => `evt.knowledge.${tenant}.*`],
];

/** Deletes every message of a tenant from every stream, as the administrator. Returns how many there were. */
export async function purgeTenant(bus: Bus, tenantId: string): Promise<number> {
  const jsm = await jetstreamManager(bus.raw, { checkAPI: false, timeout: 10_000 });
  let purged = 0;
  for (const [stream, subjectOf] of SUBJECTS) {
    const answer = await jsm.streams.purge(stream, { filter: subjectOf(tenantId) });
    purged += answer.purged;
  }
  return purged;
}

/** Deletes the durable of a removed role; does nothing if there is none. */
export async function deleteDurable(bus: Bus, stream: StreamName, durable: string): Promise<void> {
  const jsm = await jetstreamManager(bus.raw, { checkAPI: false, timeout: 10_000 });
  for await (const { name } of jsm.consumers.list(stream)) {
    if (name !== durable) continue;
    await jsm.consumers.delete(stream, durable);
    return;
  }
}
