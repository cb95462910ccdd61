import { expect, test } from 'vitest';
import { Supervised } from './supervised.ts';

const RESTART = { first: 1, max: 4 };

/** A process that ends when it is told to. */
class Toy {
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stops = 0;
  #end: (exit: { code: number | null; signal: string | null }) => void = () => undefined;

  constructor() {
    this.exited = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  die(): void {
    this.#end({ code: null, signal: 'SIGKILL' });
  }

  async stop(): Promise<void> {
    this.stops++;
    this.die();
  }
}

function supervise(start: () => Promise<Toy>, soundMs?: number) {
  const said: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  const say = (line: string) => {
    said.push(line);
    for (const each of waiting) if (line.includes(each.text)) each.resolve();
  };
  const heard = (text: string) => new Promise<void>((resolve) => waiting.push({ text, resolve }));
  const options = { name: 'toy', start, say, onChange: () => undefined, restartMs: RESTART };
  return { said, heard, toy: new Supervised<Toy>({ ...options, ...(soundMs === undefined ? {} : { soundMs }) }) };
}

test('what ends by itself is started again, and told of when it is ready again', async () => {
  const started: Toy[] = [];
  const { toy, said, heard } = supervise(async () => {
    started.push(new Toy());
    return started.at(-1) as Toy;
  });
  await toy.start();
  const again = heard('ready again');
  started[0]?.die();
  await again;
  expect(said).toEqual(['toy ended (SIGKILL); it starts again in 1 ms', 'toy is ready again']);
  expect(toy.part).toBe(started[1]);
  await toy.stop();
  expect(started.map((each) => each.stops)).toEqual([0, 1]);
  expect(started).toHaveLength(2);
});

test('a failing restart is tried again, ever slower up to a bound', async () => {
  let starts = 0;
  const first = new Toy();
  const { toy, said, heard } = supervise(async () => {
    starts++;
    if (starts === 1) return first;
    if (starts < 6) throw new Error('port taken\nand more');
    return new Toy();
  });
  await toy.start();
  const again = heard('ready again');
  first.die();
  await again;
  expect(said.slice(0, -1).map((line) => / in (\d+) ms/.exec(line)?.[1])).toEqual(['1', '2', '4', '4', '4']);
  expect(said[1]).toContain('(port taken)');
  await toy.stop();
});

test.each([
  [0, ['1', '1']],
  [60_000, ['1', '2']],
])('having run for the %i ms that make it sound, it starts at once again', async (soundMs, pauses) => {
  const started: Toy[] = [];
  const { toy, said, heard } = supervise(async () => {
    started.push(new Toy());
    return started.at(-1) as Toy;
  }, soundMs);
  await toy.start();
  for (const round of [0, 1]) {
    const again = heard('ready again');
    started[round]?.die();
    await again;
  }
  expect(said.flatMap((line) => / in (\d+) ms/.exec(line)?.[1] ?? [])).toEqual(pauses);
  await toy.stop();
});

test('a stop during a restart leaves nothing running', async () => {
  const first = new Toy();
  const second = new Toy();
  let letReady: (toy: Toy) => void = () => undefined;
  let tellRestarting: () => void = () => undefined;
  const restarting = new Promise<void>((resolve) => {
    tellRestarting = resolve;
  });
  let starts = 0;
  const { toy } = supervise(() => {
    if (starts++ === 0) return Promise.resolve(first);
    tellRestarting();
    return new Promise((resolve) => {
      letReady = resolve;
    });
  });
  await toy.start();
  first.die();
  await restarting;
  const stopped = toy.stop();
  letReady(second);
  await stopped;
  expect(second.stops).toBe(1);
});
