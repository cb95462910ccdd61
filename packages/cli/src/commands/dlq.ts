import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addDiscard } from './dlq-discard.ts';
import { addList, addShow } from './dlq-list.ts';
import { addReplay } from './dlq-replay.ts';

export function addDlq(program: Command, context: CommandContext): void {
  const dlq = program.command('dlq').description('dead letters: steps and messages that were given up on');
  addList(dlq, context);
  addShow(dlq, context);
  addReplay(dlq, context);
  addDiscard(dlq, context);
}
