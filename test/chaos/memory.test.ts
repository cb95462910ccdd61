import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { expectFlat, type MemoryStory } from './memory.ts';

const PROBE = new URL('./memory-probe.ts', import.meta.url).href;

/** Live megabytes of a program at its start and after each of three rounds of work. */
async function measure(work: string): Promise<readonly number[]> {
  const program = `const kept = []; const work = () => { ${work} }; console.log('ready'); setInterval(() => {}, 1000);
    process.on('SIGUSR1', () => { for (let i = 0; i < 20; i++) work(); console.log('worked'); });`;
  const child = spawn(process.execPath, ['--import', PROBE, '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const say = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return String((await lines.next()).value);
    };
    await lines.next();
    const live: number[] = [];
    for (let round = 0; round < 4; round++) {
      if (round > 0) await say('SIGUSR1');
      const { heapUsed, external } = JSON.parse(await say('SIGUSR2')) as { heapUsed: number; external: number };
      live.push((heapUsed + external) / 1024 / 1024);
    }
    return live;
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

test('the probe tells what is kept from what is only not collected yet', async () => {
  const [kept, dropped] = await Promise.all([
    measure('kept.push(Array.from({ length: 20_000 }, (_, i) => ({ i })));'),
    measure('Array.from({ length: 20_000 }, (_, i) => ({ i }));'),
  ]);
  const grown = (live: readonly number[]) => (live.at(-1) ?? 0) - (live[0] ?? 0);
  expect(grown(kept)).toBeGreaterThan(15);
  expect(grown(dropped)).toBeLessThan(5);
});

test('a process that keeps a little of everything is not flat', () => {
  const story = (name: string, endMb: number): MemoryStory => {
    return { name, minutes: 7, startMb: 38, endMb, rssStartMb: 120, rssEndMb: 120, sockets: 3 };
  };
  const fleet = ['scheduler', 'gateway', 'knowledge-maintainer', 'analyzer'].map((name) => story(name, 41));
  expectFlat(fleet);
  expect(() => expectFlat([...fleet, story('scheduler', 55)])).toThrow();
  // Nobody of that kind was looked at.
  expect(() => expectFlat(fleet.slice(1))).toThrow();
});
