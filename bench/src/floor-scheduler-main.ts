import { randomUUID } from 'node:crypto';
import { serve } from '@cleanslate/bus';
import pg from 'pg';
import { z } from 'zod';
import { linkFloor, type Taken } from './floor-link.ts';
import { COMMANDS, connectFloor, decode, EVENTS, encode, RUN, STEPS } from './floor-wire.ts';

// Commands go out, events come in, and each batch of events is one compare-and-set in the database before the next
// commands follow. Nothing else: no claims, leases, retries, transitions, or events for observers.

/** Messages of 512 bytes, as all of design/70 was measured with. */
const PADDING = 'x'.repeat(443);
const RunRequest = z.strictObject({ tasks: z.int().positive() });

const url = process.env['NATS_URL'] ?? '';
const bus = await connectFloor(url);
const link = await linkFloor(process.env['FLOOR_CLIENT'], bus, url);
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 2 });
let waiting: Taken[] = [];
let busy = false;
let left = 0;
let done = Promise.withResolvers<void>();

serve(bus, RUN, 'floor-scheduler', async ({ body }) => {
  const { tasks } = RunRequest.parse(JSON.parse(new TextDecoder().decode(body)));
  const ids = Array.from({ length: tasks }, () => randomUUID());
  left = tasks;
  done = Promise.withResolvers<void>();
  await pool.query('INSERT INTO floor_tasks SELECT id, 1 FROM unnest($1::text[]) AS id', [ids]);
  for (const id of ids) void command(id, 1);
  await done.promise;
  return new Uint8Array();
});
link.take(EVENTS, 300, take);

function command(task: string, step: number): Promise<unknown> {
  return link.send(COMMANDS, `${task}.${step}`, encode({ task, step, padding: PADDING }));
}

function take(message: Taken): void {
  waiting.push(message);
  if (busy) return;
  busy = true;
  setImmediate(() => void pump().catch(done.reject));
}

async function pump(): Promise<void> {
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    const events = batch.map((message) => decode(message.data));
    await pool.query(
      'UPDATE floor_tasks t SET step = x.step + 1 FROM unnest($1::text[], $2::int[]) AS x(id, step) WHERE t.id = x.id AND t.step = x.step',
      [events.map((event) => event.task), events.map((event) => event.step)],
    );
    await Promise.all(events.filter((event) => event.step < STEPS).map((event) => command(event.task, event.step + 1)));
    for (const message of batch) message.ack();
    left -= events.filter((event) => event.step === STEPS).length;
    if (left === 0) done.resolve();
  }
  busy = false;
}
