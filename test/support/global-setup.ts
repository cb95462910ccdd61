import { startPostgres } from '@cleanslate/infra';
import type { TestProject } from 'vitest/node';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The superuser of the one TimescaleDB of this run: `inject('postgresAdminUrl')`. Each test file
     * makes its own database there.
     */
    postgresAdminUrl: string;
    /** `MODEL_CHECK=long`: the whole model check of the task machine, some minutes. */
    modelCheck: 'short' | 'long';
  }
}

/** Starts one real TimescaleDB for the whole run; a server for each file would cost more than the tests themselves. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = makeRunFolder();
  const postgres = await startPostgres({ dir, durable: false });
  project.provide('postgresAdminUrl', postgres.adminUrl);
  project.provide('modelCheck', process.env['MODEL_CHECK'] === 'long' ? 'long' : 'short');
  return async () => {
    await postgres.stop();
    removeRunFolder(dir);
  };
}
