import { type GateView, JsonObject, parseGivenJson } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { readBytes } from '../input/read-bytes.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type GateOptions = CommonOptions & { readonly hash: string };
type Answer = {
  readonly taskId: string;
  readonly state: string;
  readonly decision: NonNullable<GateView['decision']>;
  readonly by: string;
};

/** A person's decision at a task's gate. The hash is required: whoever decides has seen the result that it names. */
export function addGateCommands(task: Command, context: CommandContext): void {
  addApprove(task, context);
  addReject(task, context);
  addEdit(task, context);
}

function addApprove(task: Command, context: CommandContext): void {
  const command = withHash(task.command('approve <task>').description('approve the result that waits at the gate'));
  withCommonOptions(command, context);
  withExamples(command, 'slate task show TASK', 'slate task approve TASK --hash 9f86d081…');
  command.action(async (taskId: string, { tenant, json, hash }: GateOptions) => {
    await using client = await openClient(context, tenant);
    print(context, await client.approve(taskId, parseHash(hash)), json);
  });
}

function addReject(task: Command, context: CommandContext): void {
  const command = withHash(
    task.command('reject <task>').description('end the task as failed with GATE_REJECTED'),
  ).option('--reason <text>', 'kept with the task');
  withCommonOptions(command, context);
  withExamples(command, 'slate task reject TASK --hash 9f86d081… --reason "wrong party"');
  command.action(async (taskId: string, { tenant, json, hash, reason }: GateOptions & { readonly reason?: string }) => {
    await using client = await openClient(context, tenant);
    print(context, await client.reject(taskId, parseHash(hash), reason), json);
  });
}

function addEdit(task: Command, context: CommandContext): void {
  const command = withHash(
    task.command('edit <task>').description('replace the result that waits at the gate, and approve the new one'),
  ).requiredOption('-i, --input <file>', 'the new result: a JSON object, or - for stdin');
  withCommonOptions(command, context);
  withExamples(command, 'slate task edit TASK --hash 9f86d081… --input corrected.json');
  command.action(async (taskId: string, { tenant, json, hash, input }: GateOptions & { readonly input: string }) => {
    const sha256 = parseHash(hash);
    const result = JsonObject.safeParse(parseGivenJson(await readBytes(input, '--input'), input));
    if (!result.success)
      throw inputError({ what: `${input} holds no JSON object`, where: '--input', remedy: 'write { "field": … }' });
    await using client = await openClient(context, tenant);
    print(context, await client.edit(taskId, sha256, result.data), json);
  });
}

function withHash(command: Command): Command {
  return command.requiredOption('--hash <sha256>', 'of the exact result, as "slate task show" prints it');
}

function parseHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  const remedy = 'copy the 64 hexadecimal digits that "slate task show" prints';
  throw inputError({ what: `"${text}" is no SHA-256`, where: '--hash', remedy });
}

function print({ terminal }: CommandContext, answer: Answer, json: boolean | undefined): void {
  if (json) return terminal.out(JSON.stringify(answer));
  const late = answer.by === 'expiry' ? ' by its expiry, before this answer came' : '';
  terminal.out(`${answer.decision}${late}: ${answer.taskId} is ${answer.state}`);
}
