import { type Assertion, KnowledgeType } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type AddOptions = CommonOptions & {
  readonly subject?: string;
  readonly predicate?: string;
  readonly value?: string;
  readonly unit?: string;
  readonly not?: boolean;
  readonly modality: Assertion['modality'];
  readonly id?: string;
  readonly type?: KnowledgeType;
  readonly source?: string;
  readonly validFrom?: string;
  readonly validUntil?: string;
  readonly tag?: readonly string[];
};

export function addAdd(fact: Command, context: CommandContext): void {
  const command = fact
    .command('add <statement>')
    .description('state one fact; another value for the same subject and predicate becomes its next version')
    .option('--subject <text>', 'what the fact is about; needs --predicate and --value')
    .option('--predicate <text>', 'which property of the subject')
    .option('--value <text>', 'value of the property; numbers as digits')
    .option('--unit <unit>', 'unit of the value: days, percent, …')
    .option('--not', 'negate the statement')
    .addOption(
      new Option('--modality <modality>', 'how binding').choices(['is', 'may', 'should', 'must']).default('is'),
    )
    .option('--id <knowledge-id>', 'id of an existing fact, or of a new one')
    .addOption(new Option('--type <type>', 'what kind of knowledge').choices(KnowledgeType.options))
    .option('--source <text>', 'who says so, or where it is written (default: person)')
    .option('--valid-from <time>', 'in force from then on')
    .option('--valid-until <time>', 'in force until then')
    .option('--tag <tag...>', 'tags');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact add "Invoices must be paid within 30 days." --subject contract.payment_term --predicate max_days --value 30 --unit days --modality must',
    'slate fact add "From 2027 on, invoices must be paid within 14 days." --subject contract.payment_term --predicate max_days --value 14 --unit days --modality must --valid-from 2027-01-01',
    'slate fact add "The supplier portal is being replaced." --tag procurement',
  );
  command.action(async (statement: string, options: AddOptions) => {
    const { out, note } = context.terminal;
    const { id, type, source, validFrom, validUntil, tag } = options;
    const assertion = toAssertion(options);
    await using client = await openClient(context, options.tenant);
    const reply = await client.facts.add({
      statement,
      ...(assertion && { assertion }),
      ...(id && { knowledgeId: id }),
      ...(type && { knowledgeType: type }),
      ...(source && { sourceRef: source }),
      ...(validFrom && { validFrom: parseTime(validFrom, '--valid-from') }),
      ...(validUntil && { validUntil: parseTime(validUntil, '--valid-until') }),
      ...(tag && { tags: [...tag] }),
    });
    if (options.json) return out(JSON.stringify(reply));
    out(`${reply.knowledgeId}@${reply.version}  ${reply.outcome}: ${reply.reason}`);
    note(`knowledge is at revision ${reply.revision}; slate fact history ${reply.knowledgeId}`);
  });
}

function toAssertion({ subject, predicate, value, unit, not, modality }: AddOptions): Assertion | undefined {
  if (subject !== undefined && predicate !== undefined && value !== undefined)
    return { subject, predicate, value, unit: unit ?? null, polarity: not ? 'negative' : 'positive', modality };
  if ([subject, predicate, value, unit].every((part) => part === undefined)) return undefined;
  const where = subject === undefined ? '--subject' : predicate === undefined ? '--predicate' : '--value';
  const remedy = 'write all three of --subject, --predicate and --value, or none of them';
  throw inputError({ what: 'only a part of what it says in comparable form is given', where, remedy });
}
