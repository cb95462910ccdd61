import type { Service } from '@cleanslate/infra';
import { expect } from 'vitest';
import { z } from 'zod';
import { FLEET, type Fleet } from './fleet.ts';

const Line = z.object({
  event: z.literal('memory'),
  rss: z.int(),
  heapUsed: z.int(),
  external: z.int(),
  sockets: z.int(),
});

type Sample = { readonly atMs: number; readonly liveMb: number; readonly rssMb: number; readonly sockets: number };

export type MemoryStory = {
  readonly name: string;
  readonly minutes: number;
  /** What lived after a collection: the least of the first and of the last third of the samples. */
  readonly startMb: number;
  readonly endMb: number;
  readonly rssStartMb: number;
  readonly rssEndMb: number;
  readonly sockets: number;
};

const MB = 1024 * 1024;
const EVERY_MS = 3_000;
const FEWEST = 6;

/** Asks every process again and again what memory it can't let go of. */
export class MemoryWatch {
  readonly #fleet: Fleet;
  readonly #samples = new Map<Service, Sample[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (const service of this.#fleet.running()) this.#ask(service);
    }, EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Of all that still run and have run for a while. */
  stories(): readonly MemoryStory[] {
    return this.#fleet.running().flatMap((service) => {
      const samples = this.#samples.get(service) ?? [];
      return samples.length < FEWEST ? [] : [toStory(service.name, samples)];
    });
  }

  #ask(service: Service): void {
    if (!this.#samples.has(service)) this.#listen(service);
    // The probe was loaded before the service said that it is ready: the signal can't end it.
    void service.kill('SIGUSR2');
  }

  #listen(service: Service): void {
    const samples: Sample[] = [];
    this.#samples.set(service, samples);
    service.onLine((line) => {
      if (!line.startsWith('{"event":"memory"')) return;
      const { rss, heapUsed, external, sockets } = Line.parse(JSON.parse(line));
      samples.push({ atMs: performance.now(), liveMb: (heapUsed + external) / MB, rssMb: rss / MB, sockets });
    });
  }
}

function toStory(name: string, samples: readonly Sample[]): MemoryStory {
  const third = Math.floor(samples.length / 3);
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const least = (of: readonly Sample[], field: 'liveMb' | 'rssMb') =>
    Math.round(10 * Math.min(...of.map((sample) => sample[field]))) / 10;
  return {
    name,
    minutes: Math.round(((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)) / 6_000) / 10,
    startMb: least(first, 'liveMb'),
    endMb: least(last, 'liveMb'),
    rssStartMb: least(first, 'rssMb'),
    rssEndMb: least(last, 'rssMb'),
    sockets: samples.at(-1)?.sockets ?? 0,
  };
}

/**
 * Caches fill and code is compiled in the first minutes: seen are 3 MB, mostly in the first one. What every task or
 * every outage leaves behind is far more.
 */
const SLACK_MB = 12;
const PER_MINUTE_MB = 0.5;

export function expectFlat(stories: readonly MemoryStory[]): void {
  expect([...new Set(stories.map(({ name }) => name))].sort()).toEqual([...FLEET].sort());
  const grown = stories.filter(({ startMb, endMb, minutes }) => endMb > startMb + SLACK_MB + PER_MINUTE_MB * minutes);
  expect(grown).toEqual([]);
}
