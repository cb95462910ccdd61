import { type DestinationStream, destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { hideKnownInLine } from './known-secrets.ts';
import { toSafeError } from './safe-error.ts';
import { hideSecretKeys } from './secret-keys.ts';

export type Logger = PinoLogger;

export type LoggerOptions = {
  readonly service: string;
  /** Default `info`. Payloads are never logged at `info` or above. */
  readonly level?: string;
  /** Default: stdout. */
  readonly destination?: DestinationStream;
};

/** JSON lines on stdout with the service's name; secrets by key are redacted, errors cut to 4 KB. */
export function createLogger(options: LoggerOptions): Logger {
  const to = options.destination === undefined ? toStdout() : hiding(options.destination);
  return pino(
    {
      level: options.level ?? 'info',
      base: { service: options.service, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => toSafeError(error), error: (error: unknown) => toSafeError(error) },
    },
    to,
  );
}

let stdoutOfProcess: ReturnType<typeof openStdout> | undefined;

/**
 * One for all loggers of the process: each would add a listener to the end of the process, and none is ever removed.
 */
function toStdout() {
  stdoutOfProcess ??= openStdout();
  return stdoutOfProcess;
}

/**
 * All lines of one turn of the event loop leave in one write: under load, one write per line costs more than making the
 * line.
 */
function openStdout() {
  const stdout = destination({ dest: 1, sync: false });
  const hidden = hiding(stdout);
  let lines = '';
  const send = () => {
    if (lines !== '') hidden.write(lines);
    lines = '';
  };
  // Runs before the destination's own listener, which writes out what it holds.
  process.prependListener('exit', send);
  return {
    write: (line: string) => {
      if (lines === '') setImmediate(send);
      lines += line;
    },
    flush: (done?: (error?: Error) => void) => {
      send();
      stdout.flush(done);
    },
    flushSync: () => {
      send();
      stdout.flushSync();
    },
  };
}

/**
 * The last check of a line: however a known secret got in, as a key or deep in an object, and whatever is under a
 * secret's name, it goes no further.
 */
function hiding(to: DestinationStream): DestinationStream {
  return { write: (lines) => to.write(hideKnownInLine(hideSecretKeys(lines))) };
}
