import { type ModelServer, type Platform, startModelServer, startPlatform } from '@cleanslate/testing';
import { show } from '../fixtures/scripted-platform.ts';

const ENTRY = new URL('../fixtures/asking-worker.ts', import.meta.url).pathname;

export type ModelPlatform = AsyncDisposable & {
  readonly platform: Platform;
  readonly server: ModelServer;
  /** Another worker process that asks the simulated server. */
  startWorker(env?: Readonly<Record<string, string>>): ReturnType<Platform['start']>;
};

/** Scheduler and gateway as they are, a simulated model server, and workers of a user's workflow `asking`. */
export async function startModelPlatform(
  postgresAdminUrl: string,
  workers: number,
  env: Readonly<Record<string, string>> = {},
): Promise<ModelPlatform> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startModelServer());
  const platform = started.use(
    await startPlatform({
      postgresAdminUrl,
      services: ['scheduler', 'gateway'],
      log: show,
      env: { LEASE_MS: '8000', SWEEP_MS: '100', MODEL_LEASE_MS: '8000' },
    }),
  );
  const model = { MODEL: 'simulated', MODEL_URL: server.url, MODEL_API_KEY: 'sk-simulated-key-0001' };
  const prices = { MODEL_INPUT_PRICE: '1', MODEL_OUTPUT_PRICE: '4' };
  const startWorker: ModelPlatform['startWorker'] = (more = {}) =>
    platform.start('analyzer', { ...model, ...prices, LLM_MAX_RETRIES: '0', SLOTS: '4', ...env, ...more }, ENTRY);
  await Promise.all(Array.from({ length: workers }, () => startWorker()));
  const resources = started.move();
  return { platform, server, startWorker, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
