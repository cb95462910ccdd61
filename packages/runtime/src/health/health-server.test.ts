import { expect, test } from 'vitest';
import { createLogger } from '../log/logger.ts';
import { startHealthServer } from './health-server.ts';
import { createMetrics } from './metrics.ts';

test('live always, ready by named checks, metrics, contracts; the port is logged at any level', async () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'error',
    destination: { write: (line) => void lines.push(line) },
  });
  const metrics = createMetrics('test');
  metrics.counter('slate_test_total', 'A test').inc();
  let problem: string | undefined = 'the broker is away';
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    metrics,
    logger,
    stateSchema: () => ({ 'a/b': {} }),
    checks: () => ({
      fine: () => undefined,
      bus: async () => problem,
      broken: () => {
        if (problem) throw new Error('check failed');
        return undefined;
      },
    }),
  });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'listening', healthPort: server.port });
  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  expect((await get('/healthz')).status).toBe(200);
  const notReady = await get('/readyz');
  expect([notReady.status, await notReady.json()]).toEqual([
    503,
    { status: 'not ready', checks: { fine: 'ok', bus: 'the broker is away', broken: 'check failed' } },
  ]);
  problem = undefined;
  expect((await get('/readyz')).status).toBe(200);
  expect(await (await get('/metrics')).text()).toContain('slate_test_total{service="test"} 1');
  expect(await (await get('/health/state-schema')).json()).toEqual({ 'a/b': {} });
  expect([(await get('/other')).status, (await get('/healthz', 'POST')).status]).toEqual([404, 405]);
  await server.close();
});
