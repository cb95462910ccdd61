import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * A process id with the moment it started: ids are given out again, and a signal must never reach a stranger.
 * `undefined` where there is no such process.
 */
export function findStartOf(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may hold blanks; state is the first field behind it, the start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** This process, or another, as others can tell it from a later one of the same number. */
export function toIdentity(pid: number): { readonly pid: number; readonly startedAt: string } {
  return { pid, startedAt: findStartOf(pid) ?? '' };
}

export function isSameProcess(process: { readonly pid: number; readonly startedAt: string }): boolean {
  return findStartOf(process.pid) === process.startedAt;
}

/** Nothing happens where that very process is gone. */
export function signalProcess(
  target: { readonly pid: number; readonly startedAt: string },
  signal: NodeJS.Signals,
): void {
  if (!isSameProcess(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}
