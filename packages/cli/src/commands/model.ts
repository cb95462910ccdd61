import { type ModelLimitChange, type ModelLimitView, setModelLimits } from '@cleanslate/store';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';
import { reach } from '../reach-database.ts';
import { toTable } from '../view/table.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';

/** (The option parser takes null for a missing value.) */
type Limit = number | 'none';
type LimitName = 'maxRequests' | 'tokensPerMinute' | 'tokensPerDay' | 'costPerDay';
type LimitOptions = Partial<Record<LimitName, Limit>> & {
  readonly tenant?: string;
  readonly model?: string;
  readonly json?: boolean;
};

const NAMES: readonly LimitName[] = ['maxRequests', 'tokensPerMinute', 'tokensPerDay', 'costPerDay'];

export function addModel(program: Command, context: CommandContext): void {
  const model = program.command('model').description('limits on calls of language models');
  const command = model
    .command('limits')
    .description(
      'set limits that hold for all workers together; a call over one waits. Without options: show them and today’s use',
    )
    .option('--tenant <tenant>', 'for one tenant (default: all together)')
    .option('--model <model>', 'for one model (default: all together)')
    .option('--max-requests <count>', 'requests at once; "none" removes a limit', parseWhole)
    .option('--tokens-per-minute <count>', 'prompts and answers of the last minute', parseWhole)
    .option('--tokens-per-day <count>', 'prompts and answers of a day (UTC)', parseWhole)
    .option('--cost-per-day <amount>', 'cost of a day, in the unit of MODEL_INPUT_PRICE', parseAmount)
    .option('--json', 'print JSON for machines');
  withExamples(
    command,
    'slate model limits --model gpt-4o-mini --max-requests 8 --tokens-per-minute 200000',
    'slate model limits --tenant acme --cost-per-day 25',
    'slate model limits --json',
  );
  command.action(async ({ json, ...options }: LimitOptions) => {
    const limits = await reach(setModelLimits(await findAdminUrl(context), toChange(options)));
    if (json) return context.terminal.out(JSON.stringify({ limits }));
    show(context, limits);
  });
}

function toChange({ tenant, model, ...options }: LimitOptions): ModelLimitChange | undefined {
  const given = NAMES.filter((name) => options[name] !== undefined);
  if (given.length === 0) return undefined;
  const values = given.map((name) => [name, options[name] === 'none' ? null : options[name]] as const);
  return { tenantId: tenant ?? null, model: model ?? '', ...Object.fromEntries(values) };
}

function show({ terminal }: CommandContext, limits: readonly ModelLimitView[]): void {
  if (limits.length === 0) return terminal.note('no limits');
  const rows = limits.map(({ tenantId, model, used, ...limit }) => [
    tenantId ?? '(all)',
    model || '(all)',
    toText(limit.maxRequests),
    toText(limit.tokensPerMinute),
    `${used.tokens} / ${toText(limit.tokensPerDay)}`,
    `${Number(used.cost.toPrecision(4))} / ${toText(limit.costPerDay)}`,
  ]);
  const heads = ['TENANT', 'MODEL', 'REQUESTS AT ONCE', 'TOKENS/MINUTE', 'TOKENS TODAY', 'COST TODAY'];
  for (const line of toTable(heads, rows)) terminal.out(line);
}

function toText(limit: number | null): string {
  return limit === null ? '-' : `${limit}`;
}

function parseWhole(text: string): Limit {
  if (text === 'none') return text;
  if (/^[0-9]{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write a whole number, or "none".');
}

function parseAmount(text: string): Limit {
  if (text === 'none') return text;
  if (/^[0-9]{1,9}(?:\.[0-9]{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write an amount such as 25 or 0.5, or "none".');
}
