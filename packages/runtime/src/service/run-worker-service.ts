import { setFlagsFromString } from 'node:v8';
import { AppError } from '@cleanslate/contracts';
import type { CompiledWorkflow } from '@cleanslate/domain';
import { createModel } from '@cleanslate/llm';
import type { Database, DatabaseRole } from '@cleanslate/store';
import type { z } from 'zod';
import { databaseConfig, wholeNumber } from '../config/config.ts';
import { workerConfig } from '../config/worker-config.ts';
import type { Executor } from '../executor/executor.ts';
import { ModelDesk } from '../model/model-desk.ts';
import { countModelCalls } from '../model/model-metrics.ts';
import { newWorkerIdentity } from '../worker/identity.ts';
import { checkWorkflows } from '../worker/register-workflows.ts';
import { startWorker } from '../worker/worker.ts';
import { connectServiceBus, openServiceDatabase } from './connections.ts';
import { startRegistration } from './registration.ts';
import { type RunningService, runService, type ServiceContext } from './run-service.ts';

type Env = Readonly<Record<string, string | undefined>>;
type WorkerConfig = ServiceContext<ReturnType<typeof workerConfig.parse>>;

/**
 * How much the heap grows between two full collections, in percent of what lives. Left to itself V8 lets that of a
 * worker with short steps grow by half and goes through all of it every 1.5 s, for what its slots had in hand. (Measured:
 * a tenth of a worker's CPU, for 8 to 10 MB.)
 */
const HEAP_GROWS_BY = 100;

/**
 * Runs a worker service that needs only the bus: all its executors in one process. `workflows` are registered with the
 * platform at the start; the service is ready once they are.
 */
export async function runWorkerService(definition: {
  readonly role: string;
  readonly env: Env;
  readonly executors: () => readonly Executor[];
  readonly workflows?: readonly CompiledWorkflow[];
}): Promise<void> {
  const { role, env, executors, workflows = [] } = definition;
  await runService({
    name: role,
    config: workerConfig,
    env,
    start: (context) => startRole(role, context, executors(), workflows),
  });
}

/** The settings of a worker that reads the knowledge base; extend it for a worker that reads more. */
export const readingWorkerConfig = workerConfig.extend({
  ...databaseConfig,
  DATABASE_POOL: wholeNumber({ min: 1, max: 50 }).default(4).describe('database connections of this process'),
});

/** What executors are made with, besides the database. */
type WorkerParts<C extends typeof readingWorkerConfig = typeof readingWorkerConfig> = Pick<
  ServiceContext<Readonly<z.infer<C>>>,
  'config' | 'logger' | 'metrics'
> & {
  /** Closed after the last step has ended. */
  readonly stack: AsyncDisposableStack;
};

/** Runs a worker service whose executors read the knowledge base with a credential of their own. */
export async function runReadingWorkerService<C extends typeof readingWorkerConfig>(definition: {
  readonly role: string;
  readonly env: Env;
  /** Only if it reads more than `readingWorkerConfig`. */
  readonly config?: C;
  /** The database role to log in as. Default: `cleanslate_<role>`, which exists for the built-in reading roles. */
  readonly databaseRole?: DatabaseRole;
  readonly executors: (database: Database, parts: WorkerParts<C>) => readonly Executor[] | Promise<readonly Executor[]>;
}): Promise<void> {
  const { role, env, executors } = definition;
  const { DATABASE_ROLES, withTransaction } = await import('@cleanslate/store');
  const databaseRole = definition.databaseRole ?? toDatabaseRole(role, DATABASE_ROLES);
  await runService({
    name: role,
    config: definition.config ?? readingWorkerConfig,
    env,
    start: async (context) => {
      const { logger, metrics } = context;
      const database = await openServiceDatabase(context, databaseRole, {
        applicationName: `cleanslate-${role}`,
        poolSize: context.config.DATABASE_POOL,
      });
      const stack = new AsyncDisposableStack();
      stack.use(database);
      // It was parsed by the schema that was passed.
      const config = context.config as Readonly<z.infer<C>>;
      const service = await startRole(role, context, await executors(database, { config, logger, metrics, stack }));
      const stop = async () => {
        await service.stop();
        await stack.disposeAsync();
      };
      const check = async () => {
        await withTransaction(database, { role: databaseRole, readOnly: true }, (tx) => tx.query('SELECT 1'));
        return undefined;
      };
      return { ...service, checks: { ...service.checks, database: check }, stop };
    },
  });
}

async function startRole(
  role: string,
  context: WorkerConfig,
  executors: readonly Executor[],
  workflows: readonly CompiledWorkflow[] = [],
): Promise<RunningService> {
  checkWorkflows(role, executors, workflows);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWS_BY}`);
  const { config, logger, metrics, tracer } = context;
  const bus = await connectServiceBus(context, { kind: 'worker', role });
  const identity = newWorkerIdentity(role);
  const onFailure = (error: unknown) => logger.debug({ err: error }, 'model call not accounted for');
  const model = await createModel(config, {
    budget: new ModelDesk({ bus, identity, onFailure }),
    onCall: countModelCalls(metrics, role),
    onToolRefused: (refused) =>
      logger.warn({ ...refused, event: 'tool_refused' }, 'a model called a tool that it was not given'),
  });
  const options = { bus, role, logger, metrics, tracer, executors, model, identity };
  const worker = startWorker({ ...options, slots: config.SLOTS, graceMs: config.GRACE_MS });
  const registration = startRegistration({ bus, identity: worker.identity, workflows, logger });
  return {
    checks: { ...worker.checks(), ...registration.checks },
    ended: Promise.race([bus.closed, registration.refused]),
    stateSchema: Object.fromEntries(executors.map(({ name, contract }) => [name, contract])),
    onFault: (fault) => worker.endFor(fault),
    stop: async () => {
      registration.stop();
      await worker.drain();
      await bus.close();
    },
  };
}

function toDatabaseRole(role: string, roles: readonly DatabaseRole[]): DatabaseRole {
  const found = roles.find((each) => each === `cleanslate_${role}`);
  if (found !== undefined) return found;
  throw new AppError('CONFIGURATION', `there is no database role for ${role}: only ${roles.join(', ')} exist`);
}
