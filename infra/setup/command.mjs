import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

const KEPT_OUTPUT_CHARS = 20_000;

let interruptedBy;

/** The signal that ended a command of this run and with it the run, if any. */
export function findInterruption() {
  return interruptedBy;
}

/**
 * Runs a program to its end and returns `{ ok, code, output, stdout }`; never throws for a failing or missing
 * program. `deadlineMs` is required, so that no step of the set-up can hang: past it the whole process group is killed.
 * After an interruption only clean-up commands run.
 */
export function runCommand(program, args, { deadlineMs, cwd, env, isCleanup = false }) {
  if (interruptedBy && !isCleanup)
    return Promise.resolve({ ok: false, code: 1, stdout: '', output: `interrupted by ${interruptedBy}` });
  return new Promise((resolve) => {
    // Its own group, because apt, npm and mmdebstrap have children that would survive a kill of the parent alone.
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    let stdout = '';
    let timedOut = false;
    const killGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // Already gone.
      }
    };
    // SIGTERM first: mmdebstrap unmounts what it mounted.
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup('SIGTERM');
      setTimeout(() => killGroup('SIGKILL'), 5_000).unref();
    }, deadlineMs);
    const forward = (signal) => {
      interruptedBy = signal;
      killGroup(signal);
    };
    process.on('SIGINT', forward).on('SIGTERM', forward);
    const collect = (text) => {
      output = (output + text).slice(-KEPT_OUTPUT_CHARS);
    };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      collect(text);
    });
    child.stderr.setEncoding('utf8').on('data', collect);
    const finish = (code, note) => {
      clearTimeout(timer);
      process.off('SIGINT', forward).off('SIGTERM', forward);
      const late = timedOut ? `\n(stopped after ${Math.round(deadlineMs / 1000)} s)` : '';
      resolve({ ok: code === 0 && !timedOut, code, stdout, output: `${output}${note ?? ''}${late}`.trim() });
    };
    child.on('error', (error) => finish(127, error.message));
    child.on('close', (code, signal) => finish(code ?? 1, signal && !timedOut ? `\n(ended by ${signal})` : ''));
  });
}

/** The last lines of a failed command, enough to see the reason. */
export function lastLines(output, count = 5) {
  return output.split('\n').filter(Boolean).slice(-count).join('\n');
}

/** The absolute path of a program on the PATH, or undefined. */
export async function findOnPath(program, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const candidate = join(folder, program);
    try {
      await access(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
