import type { CliConfig } from './config.ts';
import type { Home } from './stack/home.ts';
import type { Terminal } from './terminal.ts';

/** What every command gets. */
export type CommandContext = {
  readonly config: CliConfig;
  readonly home: Home;
  /** Our environment, for a detached child of ours. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** Fires on the first ^C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Result of the command that ran; 0 unless it says otherwise. */
  exitCode: number;
};
