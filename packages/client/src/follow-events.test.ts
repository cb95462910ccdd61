import { AppError, type Cursor, type Envelope, TaskTransitioned, toEnvelope } from '@cleanslate/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAfter } from './cursor.ts';
import type { EventSource, FollowOptions } from './event-source.ts';
import { followEvents } from './follow-events.ts';
import type { LiveQueue } from './live-queue.ts';

/** A ledger and a bus that loses, repeats and shuffles at the test's command. */
class ScriptedSource implements EventSource {
  readonly committed: Envelope[] = [];
  head: Cursor = { epoch: 1, position: 0 };
  reads = 0;
  failReads = 0;
  queue: LiveQueue | undefined;

  async read(after: Cursor, limit: number) {
    this.reads++;
    if (this.failReads-- > 0) throw new AppError('REQUEST_TIMEOUT', 'no answer');
    const events = this.committed.filter((event) => isAfter(cursorOf(event), after)).slice(0, limit);
    const last = events.at(-1);
    return { events, cursor: events.length === limit && last ? cursorOf(last) : this.head };
  }

  async tail(queue: LiveQueue) {
    this.queue = queue;
    return () => undefined;
  }

  commit(position: number): Envelope {
    const event = eventAt(position);
    this.committed.push(event);
    this.head = { epoch: 1, position };
    return event;
  }

  say(event: Envelope): void {
    this.queue?.push({ kind: 'event', envelope: event });
  }
}

function eventAt(position: number): Envelope {
  const attributes = {
    id: `e${position}`,
    source: '/test',
    time: '2026-01-01T00:00:00.000Z',
    tenantid: 'acme',
    taskid: 't',
  };
  const data = { from: 'pending', to: 'executing', on: 'test', round: 1 } as const;
  return { ...toEnvelope(TaskTransitioned, attributes, data), epoch: 1, sequence: String(position) };
}

function cursorOf(event: Envelope): Cursor {
  return { epoch: event.epoch ?? 1, position: Number(event.sequence) };
}

/** Positions in the order in which they are handed out, until `last` came. */
async function collect(source: ScriptedSource, last: number, options: FollowOptions, onStart: () => unknown) {
  const seen: number[] = [];
  let started = false;
  for await (const item of followEvents(source, options)) {
    if (item.kind === 'caught-up' && !started) {
      started = true;
      onStart();
    }
    if (item.kind === 'event') seen.push(item.cursor.position);
    if (seen.at(-1) === last) return seen;
  }
  return seen;
}

test('the ledger is read first, then live events are handed out without asking it again', async () => {
  const source = new ScriptedSource();
  for (const position of [1, 2, 3]) source.commit(position);
  const seen = await collect(source, 6, {}, () => {
    for (const position of [4, 5, 6]) source.say(source.commit(position));
  });
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(source.reads).toBe(1);
});

test('whatever the bus loses, repeats or shuffles: each event once, in order, and the next check finds what was never said', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ gap: fc.integer({ min: 1, max: 3 }), times: fc.integer({ min: 0, max: 3 }), late: fc.boolean() }),
        {
          minLength: 1,
          maxLength: 30,
        },
      ),
      async (script) => {
        const source = new ScriptedSource();
        let position = 0;
        const positions = script.map(({ gap }) => (position += gap));
        const seen = await collect(source, position, { checkMs: 5 }, () => {
          const later: Envelope[] = [];
          for (const [index, { times, late }] of script.entries()) {
            const event = source.commit(positions[index] ?? 0);
            for (let n = 0; n < times; n++) {
              if (late) later.push(event);
              else source.say(event);
            }
          }
          for (const event of later) source.say(event);
        });
        expect(seen).toEqual(positions);
      },
    ),
    { numRuns: 100 },
  );
});

test('a live event that outruns the reader’s snapshot is waited for', async () => {
  const source = new ScriptedSource();
  const seen = await collect(source, 7, { checkMs: 60_000 }, () => {
    source.say(eventAt(7));
    setTimeout(() => source.commit(7), 60);
  });
  expect(seen).toEqual([7]);
});

test('after a reconnect the ledger is asked; a read that fails then is repeated and told of', async () => {
  const source = new ScriptedSource();
  source.commit(1);
  const troubles: string[] = [];
  const seen = await collect(source, 2, { checkMs: 20, onTrouble: (error) => troubles.push(error.message) }, () => {
    source.commit(2);
    source.failReads = 2;
    source.queue?.interrupt();
  });
  expect(seen).toEqual([1, 2]);
  expect(troubles).toEqual(['no answer', 'no answer']);
});

test('a first read that fails ends it', async () => {
  const source = new ScriptedSource();
  source.failReads = 1;
  await expect(collect(source, 1, {}, () => undefined)).rejects.toThrow('no answer');
});

test('a reader that is too slow for the bus reads from the ledger; an aborted one ends', async () => {
  const source = new ScriptedSource();
  const abort = new AbortController();
  const seen = await collect(source, 3_000, { signal: abort.signal, checkMs: 60_000 }, () => {
    for (let position = 1; position <= 3_000; position++) source.say(source.commit(position));
  });
  expect(seen).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
  setTimeout(() => abort.abort(), 20);
  expect(await collect(source, 9_999, { signal: abort.signal, after: source.head }, () => undefined)).toEqual([]);
});
