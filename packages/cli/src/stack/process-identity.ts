import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * A process id with the moment it started: ids are reused, and a signal must never reach a stranger. `undefined` if
 * there is no such process.
 */
function findStartOf(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may contain spaces; state is the first field after it, the start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** This process, or another, in a form that distinguishes it from a later one with the same id. */
export function toIdentity(pid: number): { readonly pid: number; readonly startedAt: string } {
  return { pid, startedAt: findStartOf(pid) ?? '' };
}

export function isSameProcess(process: { readonly pid: number; readonly startedAt: string }): boolean {
  return findStartOf(process.pid) === process.startedAt;
}

/** Does nothing if that very process is gone. */
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
