import { randomUUID } from 'node:crypto';
import type { ChildOptions } from './child.ts';

export interface ContainerOptions {
  readonly image: string;
  /** Published on loopback only. */
  readonly ports: readonly (readonly [host: number, container: number])[];
  /** Folders of this machine, or names of volumes. */
  readonly mounts: readonly (readonly [source: string, container: string])[];
  readonly env?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/**
 * The command line that runs a container in the foreground, so that it is a child like any other: the docker client
 * passes signals on, and `--init` keeps the server from being process 1, which ignores signals it has no handler for.
 * What signals can't do through the client (kill, freeze) the engine does.
 */
export function dockerContainer(options: ContainerOptions): Pick<ChildOptions, 'program' | 'args' | 'remote'> {
  const name = `cleanslate-${randomUUID()}`;
  const args = ['run', '--rm', '--init', '--sig-proxy=true', '--pull=never', '--name', name];
  for (const [host, container] of options.ports) args.push('--publish', `127.0.0.1:${host}:${container}`);
  for (const [source, container] of options.mounts) args.push('--volume', `${source}:${container}`);
  for (const [variable, value] of Object.entries(options.env ?? {})) args.push('--env', `${variable}=${value}`);
  return {
    program: 'docker',
    args: [...args, options.image, ...options.command],
    remote: {
      kill: ['docker', 'kill', name],
      suspend: ['docker', 'pause', name],
      resume: ['docker', 'unpause', name],
    },
  };
}
