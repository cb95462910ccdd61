/** Why a local server or service could not be started, stopped or reached. */
export const LaunchErrorCode = {
  TOOLCHAIN_MISSING: 'TOOLCHAIN_MISSING',
  NOT_OURS: 'NOT_OURS',
  START_FAILED: 'START_FAILED',
  START_TIMEOUT: 'START_TIMEOUT',
  RELOAD_FAILED: 'RELOAD_FAILED',
  WRONG_STATE: 'WRONG_STATE',
} as const;
export type LaunchErrorCode = (typeof LaunchErrorCode)[keyof typeof LaunchErrorCode];

/** Carries the last lines that the process printed, because they usually hold the reason. */
export class LaunchError extends Error {
  readonly code: LaunchErrorCode;
  readonly lastLines: readonly string[];

  constructor(code: LaunchErrorCode, message: string, lastLines: readonly string[] = [], cause?: unknown) {
    super(message + describeLines(lastLines), cause === undefined ? undefined : { cause });
    this.name = 'LaunchError';
    this.code = code;
    this.lastLines = lastLines;
  }
}

/** A service of ours says why in one fatal log line; of any other program all lines are shown. */
function describeLines(lines: readonly string[]): string {
  const reason = lines.map(readFatal).findLast((text) => text !== undefined);
  if (reason !== undefined) return `\n  ${reason}`;
  return lines.length > 0 ? `\nLast lines:\n${lines.map((line) => `  ${line}`).join('\n')}` : '';
}

/** Of a log line at level fatal, the message of its error and its code. */
function readFatal(line: string): string | undefined {
  const { level, err } = parseLine(line);
  if (level !== 'fatal' || typeof err !== 'object' || err === null) return undefined;
  const { message, code }: { readonly message?: unknown; readonly code?: unknown } = err;
  if (typeof message !== 'string') return undefined;
  return typeof code === 'string' ? `${message} (${code})` : message;
}

function parseLine(line: string): { readonly level?: unknown; readonly err?: unknown } {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
