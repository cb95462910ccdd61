import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * The pids of all descendants of `pid`, parents before children; Postgres' backends each lead a session of their own,
 * so a group signal would miss them.
 */
export function findDescendants(pid: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const [child, parent] of listProcesses()) {
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), child]);
  }
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const children = childrenOf.get(next) ?? [];
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

/** Whether a process is there and not merely waiting to be reaped. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return readStat(pid)?.state !== 'Z';
}

/** Sends a signal; a process that is already gone is not an error. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function listProcesses(): [pid: number, parent: number][] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const stat = readStat(Number(name));
        return stat ? [[Number(name), stat.parent] as [number, number]] : [];
      });
  }
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, parent]) => (pid !== undefined && parent !== undefined ? [[pid, parent] as [number, number]] : []));
}

function readStat(pid: number): { state: string; parent: number } | undefined {
  try {
    // The program's name, in parentheses, may itself hold spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === undefined ? undefined : { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
