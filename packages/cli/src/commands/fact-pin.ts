import type { Command } from 'commander';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, parseCount } from './options.ts';

export type PinOptions = CommonOptions & {
  readonly validAt?: string;
  readonly revision?: number;
  readonly knownAt?: string;
};

/** Both time axes: when something is in force, and what was known. */
export function withPin(command: Command): Command {
  return command
    .option('--valid-at <time>', 'the moment in the world to ask about (default: now)')
    .option('--revision <number>', 'as known at this revision (default: the latest)', parseCount)
    .option('--known-at <time>', 'as known at this time');
}

export function toPin({ validAt, revision, knownAt }: PinOptions) {
  return {
    ...(validAt && { validAt: parseTime(validAt, '--valid-at') }),
    ...(revision !== undefined && { revision }),
    ...(knownAt && { knownAt: parseTime(knownAt, '--known-at') }),
  };
}
