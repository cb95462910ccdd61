import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Batcher } from './batcher.ts';
import type { Turn } from './turn.ts';

type Item = { readonly key: string | null | undefined; readonly n: number };
type Begun = { readonly items: readonly Item[]; readonly turn: Turn; end(error?: Error): void };

/** A batcher whose runs end when they are told to. */
function overlapping(atLeast: number, maxBatch = 10) {
  const begun: Begun[] = [];
  let heard = Promise.withResolvers<void>();
  const batcher = new Batcher<Item, number>(
    (items, turn) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(items.map(({ n }) => n)) : reject(error));
        begun.push({ items, turn, end });
        heard.resolve();
      }),
    { maxBatch, overlap: { atLeast, keyOf: ({ key }) => key } },
  );
  const run = async (i: number): Promise<Begun> => {
    for (;;) {
      const found = begun[i];
      if (found !== undefined) return found;
      heard = Promise.withResolvers();
      await heard.promise;
    }
  };
  const add = (...keys: readonly Item['key'][]) => keys.map((key) => batcher.add({ key, n: ++count }));
  let count = 0;
  return { batcher, begun, run, add };
}

/** Whatever was to begin has begun by then. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('runs that overlap', () => {
  test('a run begins beside another one that is prepared, and is first when that one passes on', async () => {
    const { begun, run, add } = overlapping(2);
    void add('a');
    const one = await run(0);
    void add('b', 'c');
    await settled();
    expect(begun).toHaveLength(1);
    one.turn.prepared();
    const two = await run(1);
    expect([one.turn.isFirst, two.turn.isFirst, one.turn.isFollowed]).toEqual([true, false, true]);
    one.turn.passOn();
    await two.turn.first;
    expect(two.turn.isFirst).toBe(true);
  });

  test('few items wait for the end of the run before, or for it to pass on', async () => {
    const { begun, run, add } = overlapping(3);
    void add('a');
    const one = await run(0);
    void add('b', 'c');
    one.turn.prepared();
    await settled();
    expect(begun).toHaveLength(1);
    one.turn.passOn();
    expect((await run(1)).turn.isFirst).toBe(true);
  });

  test('never three at once', async () => {
    const { begun, run, add } = overlapping(1);
    void add('a');
    const one = await run(0);
    one.turn.prepared();
    void add('b');
    const two = await run(1);
    two.turn.prepared();
    void add('c');
    await settled();
    expect(begun).toHaveLength(2);
    one.end();
    expect((await run(2)).items.map(({ key }) => key)).toEqual(['c']);
  });

  test('items of one key wait for the run that has one, in their order, and let others pass', async () => {
    const { begun, run, add } = overlapping(1);
    void add('a');
    const one = await run(0);
    void add('a', 'b', 'a', 'c');
    one.turn.prepared();
    const two = await run(1);
    expect(two.items.map(({ n }) => n)).toEqual([3, 5]);
    one.end();
    two.end();
    expect((await run(2)).items.map(({ n }) => n)).toEqual([2, 4]);
    expect(begun).toHaveLength(3);
  });

  test('what has to be alone waits until nothing runs, nothing passes it, and nothing begins beside it', async () => {
    const { begun, run, add } = overlapping(1);
    void add('a');
    const one = await run(0);
    void add('b', null, 'c');
    one.turn.prepared();
    const two = await run(1);
    expect(two.items.map(({ key }) => key)).toEqual(['b']);
    one.end();
    await settled();
    expect(begun).toHaveLength(2);
    two.end();
    const three = await run(2);
    expect(three.items.map(({ key }) => key)).toEqual([null, 'c']);
    three.turn.prepared();
    void add('d');
    await settled();
    expect(begun).toHaveLength(3);
  });

  test('what has to be alone is not passed by the other lane either: a flood there never leaves a moment in which nothing runs', async () => {
    const { batcher, begun, run, add } = overlapping(1);
    void add('a');
    const one = await run(0);
    one.turn.prepared();
    void add(null, 'b');
    for (const n of [10, 11]) void batcher.add({ key: `flood ${n}`, n }, 'bulk');
    await settled();
    one.turn.passOn();
    await settled();
    expect(begun).toHaveLength(1);
    one.end();
    expect((await run(1)).items.map(({ key }) => key)).toEqual([null, 'b', 'flood 10', 'flood 11']);
  });

  test('a run that is not first makes no other one first', async () => {
    const { run, add } = overlapping(1);
    const [a] = add('a');
    const one = await run(0);
    one.turn.prepared();
    const [b] = add('b');
    const two = await run(1);
    two.turn.prepared();
    two.turn.passOn();
    expect([two.turn.isFirst, one.turn.isFirst]).toEqual([false, true]);
    two.end();
    await b;
    void add('c');
    const three = await run(2);
    expect(three.turn.isFirst).toBe(false);
    one.end(new Error('away'));
    await expect(a).rejects.toThrow('away');
    await three.turn.first;
    expect(three.turn.isFirst).toBe(true);
  });

  test('whatever the order of events: each item once, those of a key in order and one at a time, firsts in order', async () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'd', null, undefined);
    const step = fc.oneof(
      {
        arbitrary: fc.record({ do: fc.constant('add' as const), keys: fc.array(keys, { minLength: 1, maxLength: 6 }) }),
        weight: 3,
      },
      { arbitrary: fc.record({ do: fc.constantFrom('prepare', 'pass', 'end', 'fail'), of: fc.nat(2) }), weight: 5 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (steps, atLeast) => {
        const { batcher, begun, run, add } = overlapping(atLeast, 4);
        const ended = new Set<Begun>();
        const firsts: Begun[] = [];
        const watched = new Set<Begun>();
        const look = () => {
          for (const each of begun) {
            if (watched.has(each)) continue;
            watched.add(each);
            void each.turn.first.then(() => firsts.push(each));
          }
          const running = begun.filter((each) => !ended.has(each));
          expect(running.length).toBeLessThanOrEqual(2);
          const [one, two] = running.map(({ items }) => items.map(({ key }) => key));
          if (one === undefined || two === undefined) return;
          expect([...one, ...two]).not.toContain(null);
          expect(one.filter((key) => key !== undefined && two.includes(key))).toEqual([]);
        };
        const answers: Promise<unknown>[] = [];
        for (const each of steps) {
          if (each.do === 'add') answers.push(...add(...each.keys).map((answer) => answer.catch(() => undefined)));
          else {
            const target = begun.filter((other) => !ended.has(other))[each.of];
            if (each.do === 'prepare') target?.turn.prepared();
            if (each.do === 'pass') target?.turn.passOn();
            if (target !== undefined && (each.do === 'end' || each.do === 'fail')) {
              target.end(each.do === 'fail' ? new Error('away') : undefined);
              ended.add(target);
            }
          }
          await settled();
          look();
        }
        for (let i = 0; batcher.waiting > 0 || ended.size < begun.length; i++) {
          const next = await run(i);
          next.end();
          ended.add(next);
          await settled();
          look();
        }
        await Promise.all(answers);
        await batcher.drained();
        const handled = begun.flatMap(({ items }) => items);
        expect(handled.map(({ n }) => n).sort((a, b) => a - b)).toEqual(handled.map((_, i) => i + 1));
        for (const [, items] of Map.groupBy(handled, ({ key }) => key))
          if (typeof items[0]?.key === 'string')
            expect(items.map(({ n }) => n)).toEqual(items.map(({ n }) => n).sort((a, b) => a - b));
        expect(firsts).toEqual(begun);
      }),
      { numRuns: 300 },
    );
  });
});
