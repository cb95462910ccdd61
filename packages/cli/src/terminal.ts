import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Where a command writes. Results go to stdout, everything else to stderr, so that a pipe sees only results. */
export type Terminal = {
  /** One line of the result. */
  out(line?: string): void;
  /** One line about what happens. */
  note(line?: string): void;
  /** A line that the next one overwrites; nothing if stderr is not a terminal. */
  status(line: string): void;
  /** Redraws the result from the top of the screen; nothing if stdout is not a terminal. */
  clear(): void;
  style(style: Style, text: string): string;
  readonly width: number;
};

/** What we need of a stream: a terminal's, a pipe's, or a test's. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export type TerminalStreams = {
  readonly stdout: Output;
  readonly stderr: Output;
  /** `NO_COLOR` set to anything but nothing (no-color.org), or `TERM=dumb`. */
  readonly plain: boolean;
};

export function openTerminal({ stdout, stderr, plain }: TerminalStreams): Terminal {
  const live = stderr.isTTY === true && !plain;
  let statusShown = false;
  const clearStatus = () => {
    if (statusShown) stderr.write('\r\u001b[2K');
    statusShown = false;
  };
  return {
    out: (line = '') => {
      clearStatus();
      stdout.write(`${line}\n`);
    },
    note: (line = '') => {
      clearStatus();
      stderr.write(`${line}\n`);
    },
    status: (line) => {
      if (!live) return;
      clearStatus();
      stderr.write(line.slice(0, (stderr.columns ?? 80) - 1));
      statusShown = true;
    },
    clear: () => {
      if (stdout.isTTY === true && !plain) stdout.write('\u001b[H\u001b[2J');
    },
    style: (style, text) =>
      stdout.isTTY === true && !plain ? styleText(style, text, { validateStream: false }) : text,
    width: stdout.columns ?? 100,
  };
}
