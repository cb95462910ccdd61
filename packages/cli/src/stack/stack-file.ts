import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Home } from './home.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';
import { isSameProcess } from './process-identity.ts';

/** Their names among a stack's processes. */
export const BROKER = 'nats-server';
export const DATABASE = 'database';

export const ProcessRef = z.object({ name: z.string(), pid: z.int().positive(), startedAt: z.string() });
export type ProcessRef = z.infer<typeof ProcessRef>;

/** `stack.json`: what runs, and where. Only `slate up` writes it; the other commands read it. */
export const StackFile = z.object({
  state: z.enum(['starting', 'ready', 'stopping']),
  startedAt: z.iso.datetime(),
  supervisor: ProcessRef,
  /** Broker, database and services; empty if they are not ours. */
  processes: z.array(ProcessRef),
  natsUrl: z.string(),
  natsMonitorUrl: z.string().optional(),
  /** An administrator's URL. */
  databaseUrl: z.string(),
  database: z.enum(['embedded', 'given']),
  gatewayUrl: z.string().optional(),
  health: z.record(z.string(), z.string()),
  logFile: z.string(),
});
export type StackFile = z.infer<typeof StackFile>;

export type FoundStack = { readonly file: StackFile; readonly running: boolean };

/** `running` false: the file was left behind by a stack that is gone. */
export async function findStack(home: Home): Promise<FoundStack | undefined> {
  const file = await readJsonFile(home.stackFile, StackFile);
  return file && { file, running: isSameProcess(file.supervisor) };
}

export function writeStack(home: Home, file: StackFile): Promise<void> {
  return writePrivateFile(home.stackFile, `${JSON.stringify(file, null, 2)}\n`);
}

/** Does nothing if the file belongs to another stack by now. */
export async function removeStack(home: Home, supervisor: ProcessRef): Promise<void> {
  const now = await readJsonFile(home.stackFile, StackFile).catch(() => undefined);
  const isTheirs = now?.supervisor.pid === supervisor.pid && now.supervisor.startedAt === supervisor.startedAt;
  if (isTheirs) await rm(home.stackFile, { force: true });
}

/** Parts that this stack should have but that aren't running. */
export function findMissing(file: StackFile, services: readonly string[]): string[] {
  const expected = [
    ...(file.natsMonitorUrl === undefined ? [] : [BROKER]),
    ...(file.database === 'embedded' ? [DATABASE] : []),
    ...services,
  ];
  return expected.filter((name) => !file.processes.some((each) => each.name === name && isSameProcess(each)));
}
