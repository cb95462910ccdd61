import type { AppError } from '@cleanslate/contracts';
import type { ReadyChecks } from '../health/health-server.ts';
import type { Logger } from '../log/logger.ts';
import { type RegisterOptions, registerWorkflows } from '../worker/register-workflows.ts';

export type Registration = {
  readonly checks: ReadyChecks;
  /** Rejects only if the platform refuses them for good. */
  readonly refused: Promise<Error>;
  readonly stop: () => void;
};

/** Registers a service's workflows in the background: it isn't ready before, and ends if they are refused. */
export function startRegistration(
  options: Pick<RegisterOptions, 'bus' | 'identity' | 'workflows'> & { readonly logger: Logger },
): Registration {
  const { workflows, logger } = options;
  const ended = new AbortController();
  const stop = () => ended.abort();
  if (workflows.length === 0) return { checks: {}, refused: new Promise(() => undefined), stop };
  let problem: string | undefined = 'not registered yet';
  const onFailure = (error: AppError) => {
    problem = `not registered yet: ${error.message}`;
    logger.warn({ err: error }, 'the workflows are not registered yet');
  };
  const refused = new Promise<Error>((resolve) => {
    registerWorkflows({ ...options, signal: ended.signal, onFailure }).then(() => {
      problem = undefined;
      logger.info({ workflows: workflows.map(({ name }) => name) }, 'workflows registered');
    }, resolve);
  });
  return { checks: { workflows: () => problem }, refused, stop };
}
