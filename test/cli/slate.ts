import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkoutRoot, findPinnedNode } from '@cleanslate/infra';

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
export type Env = Readonly<Record<string, string>>;

const MAIN = join(checkoutRoot, 'packages', 'cli', 'src', 'main.ts');

/** The real binary while it runs. Its environment is what is given, and what any program needs. */
export type Running = { readonly ended: Promise<Ran>; kill(signal: NodeJS.Signals): void };

export function startSlate(args: readonly string[], env: Env, stdin: string | Uint8Array = ''): Running {
  const child = spawn(findPinnedNode(), [MAIN, ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: join(checkoutRoot, '.cleanslate', 'compile-cache'),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { ended, kill: (signal) => void child.kill(signal) };
}

/** Runs the real binary to its end. */
export function slate(args: readonly string[], env: Env, stdin: string | Uint8Array = ''): Promise<Ran> {
  return startSlate(args, env, stdin).ended;
}

/** The one JSON document on stdout. */
export function json<T>(ran: Ran): T {
  return JSON.parse(ran.stdout) as T;
}
