import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** A service's registry with the process metrics; each part of the platform adds its own. */
export function createMetrics(service: string) {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const onScrape: (() => void)[] = [];
  return {
    registry,
    /** Runs before each scrape: for gauges that are read, not counted. Must be quick. */
    onScrape: (read: () => void) => {
      onScrape.push(read);
    },
    /** Everything in Prometheus' text format. */
    scrape: async () => {
      for (const read of onScrape) read();
      return await registry.metrics();
    },
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter({ name, help, labelNames, registers: [registry] }),
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge({ name, help, labelNames, registers: [registry] }),
    histogram: <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers: [registry] }),
  };
}
