import { configDefaults, defineConfig } from 'vitest/config';
import { PlainReporter } from './infra/setup/plain-reporter.ts';

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'services/*/src/**/*.test.ts',
      'infra/src/**/*.test.ts',
      'infra/setup/**/*.test.mjs',
      'test/**/*.test.ts',
      'bench/src/**/*.test.ts',
    ],
    // A measurement, on request.
    exclude: [...configDefaults.exclude, ...(process.env['SPEED'] ? [] : ['test/knowledge/speed.test.ts'])],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new PlainReporter()],
    // Processes, not threads: tests start servers and signal them. Two, because each file has its own NATS server and
    // often several services beside it, and the smallest machine we test on has two cores.
    pool: 'forks',
    maxWorkers: 2,
    // Bounds matter only to a test that fails: a machine that stalls for some seconds must not make one fail.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
