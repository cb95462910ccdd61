import type { FactImpact, ValueOf } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { toTable } from '../view/table.ts';
import { parseFactRef } from './fact-ref.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

export function addImpact(fact: Command, context: CommandContext): void {
  const command = fact
    .command('impact <fact>')
    .description(
      'show what rests on a fact or on one version of it: derived facts at any depth, answers of tasks, and tasks that only read it',
    );
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact impact payment-term-max-days',
    'slate fact impact payment-term-max-days@2 --json | jq -r .answers[].taskId',
  );
  command.action(async (name: string, { tenant, json }: CommonOptions) => {
    const { knowledgeId, version } = parseFactRef(name);
    await using client = await openClient(context, tenant);
    const impact = await client.facts.impact(knowledgeId, version);
    if (json) context.terminal.out(JSON.stringify(impact));
    else printImpact(context, impact);
  });
}

function printImpact({ terminal: { out, note } }: CommandContext, impact: ValueOf<typeof FactImpact>): void {
  const { facts, answers = [], readers = [], more } = impact;
  if (facts.length + answers.length + readers.length === 0) return note('nothing rests on it, and nobody read it');
  const print = (columns: readonly string[], rows: readonly (readonly string[])[]) => {
    if (rows.length > 0)
      for (const line of toTable(
        [...columns],
        rows.map((row) => [...row]),
      ))
        out(line);
  };
  print(
    ['FACT', 'RESTS ON', 'DISTANCE', 'STATE', 'TASK'],
    facts.map((each) => [
      each.fact,
      each.restsOn,
      String(each.distance),
      each.believed ? 'believed' : 'no longer',
      each.taskId ?? '-',
    ]),
  );
  print(
    ['ANSWER OF TASK', 'RESTS ON', 'DISTANCE', 'AT'],
    answers.map((each) => [each.taskId, each.restsOn, String(each.distance), each.answeredAt.slice(0, 16)]),
  );
  print(
    ['ONLY READ BY TASK', 'FACT', 'STEP', 'AT'],
    readers.map((each) => [each.taskId, each.fact, each.stepId, each.at.slice(0, 16)]),
  );
  if (more) note('there is more: these are the nearest');
}
