import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { importFacts } from '../input/import-facts.ts';
import { openClient } from '../target.ts';
import { toTable } from '../view/table.ts';
import { addAdd } from './fact-add.ts';
import { addCandidates } from './fact-candidates.ts';
import { addDisputes, addResolve } from './fact-govern.ts';
import { addImpact } from './fact-impact.ts';
import { type PinOptions, toPin, withPin } from './fact-pin.ts';
import { addRedact, addRedactions } from './fact-redact.ts';
import { addReembed } from './fact-reembed.ts';
import { addRetract } from './fact-retract.ts';
import { addReview, addReviews } from './fact-reviews.ts';
import { addSearch } from './fact-search.ts';
import { addUnarchive } from './fact-unarchive.ts';
import { printDoubts, printFacts, toPeriod, toStatement } from './fact-view.ts';
import {
  type CommonOptions,
  type PageOptions,
  parseCount,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';

export function addFact(program: Command, context: CommandContext): void {
  const fact = program.command('fact').description('governed knowledge: import it, read it at any time and revision');
  addImport(fact, context);
  addAdd(fact, context);
  addGet(fact, context);
  addHistory(fact, context);
  addAsOf(fact, context);
  addCandidates(fact, context);
  addImpact(fact, context);
  addSearch(fact, context);
  addRetract(fact, context);
  addDisputes(fact, context);
  addResolve(fact, context);
  addUnarchive(fact, context);
  addReviews(fact, context);
  addReview(fact, context);
  addRedact(fact, context);
  addRedactions(fact, context);
  addReembed(fact, context);
}

function addImport(fact: Command, context: CommandContext): void {
  const command = fact
    .command('import <file>')
    .description('import a YAML policy set, all or nothing; importing the same set again changes nothing');
  withCommonOptions(command, context);
  withExamples(command, 'slate fact import infra/samples/policies-en.yaml', 'slate fact import policies.yaml --json');
  command.action(async (file: string, { tenant, json }: CommonOptions) => {
    const { terminal } = context;
    const imported = await importFacts(context, tenant, file);
    if (json) return terminal.out(JSON.stringify(imported));
    const rows = imported.outcomes.map(({ knowledgeId, outcome, versions }) => [
      knowledgeId,
      outcome,
      versions.join(', '),
    ]);
    for (const line of toTable(['FACT', 'OUTCOME', 'VERSIONS'], rows)) terminal.out(line);
    terminal.note(`knowledge is at revision ${imported.revision}`);
    for (const { knowledgeId, why } of imported.warnings)
      terminal.note(`warning: no contract review can apply ${knowledgeId}: ${why}`);
  });
}

function addGet(fact: Command, context: CommandContext): void {
  const command = withPin(fact.command('get <knowledge-id>').description('show the version in force'));
  withCommonOptions(command, context);
  withExamples(command, 'slate fact get payment-term-max-days --valid-at 2024-07-01');
  command.action(async (knowledgeId: string, options: PinOptions) => {
    const { out } = context.terminal;
    const pin = toPin(options);
    await using client = await openClient(context, options.tenant);
    const found = await client.facts.get({ knowledgeId, ...pin });
    if (options.json) return out(JSON.stringify(found));
    const { fact: view } = found;
    out(`${view.knowledgeId}@${view.version}  ${toStatement(view)}`);
    out(`  valid     ${toPeriod(view)}`);
    out(`  believed  revision ${view.revisionFrom} to ${view.revisionUntil ?? 'now'}`);
    out(`  source    ${view.sourceRef} (${view.sourceType}), weight ${view.weight}, confidence ${view.confidence}`);
    printDoubts(context, view);
  });
}

const COLUMNS = `
Columns:
  VALID      when it is in force in the world
  REVISIONS  at which revisions of the knowledge base it was believed: 1–4 until revision 4 replaced it, 1–now still`;

function addHistory(fact: Command, context: CommandContext): void {
  const command = fact
    .command('history <knowledge-id>')
    .description('show all versions, including those no longer believed')
    .option('--valid-at <time>', 'only versions that say something about this moment')
    .option('--revision <number>', 'only versions written up to this revision', parseCount)
    .option('--known-at <time>', 'only versions written by this time');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact history payment-term-max-days',
    'slate fact history payment-term-max-days --valid-at 2024-08-01   # what was believed about that day, one belief after the other',
  );
  command.addHelpText('after', COLUMNS);
  command.action(async (knowledgeId: string, options: PinOptions) => {
    const { tenant, json } = options;
    const pin = toPin(options);
    await using client = await openClient(context, tenant);
    const history = await client.facts.history(knowledgeId, pin);
    if (json) return context.terminal.out(JSON.stringify(history));
    printFacts(context, history.versions);
  });
}

type AsOfOptions = PinOptions & PageOptions & { readonly prefix?: string };

function addAsOf(fact: Command, context: CommandContext): void {
  const command = withPin(fact.command('as-of').description('list every fact in force, by knowledge id')).option(
    '--prefix <text>',
    'only ids that begin like this',
  );
  withPage(command, 1_000);
  withCommonOptions(command, context);
  withExamples(command, 'slate fact as-of --valid-at 2024-07-01', 'slate fact as-of --revision 3 --json');
  command.addHelpText('after', COLUMNS);
  command.action(async (options: AsOfOptions) => {
    const { prefix, limit, cursor } = options;
    const pin = toPin(options);
    await using client = await openClient(context, options.tenant);
    const page = await client.facts.asOf({
      ...pin,
      ...(prefix && { prefix }),
      limit,
      ...(cursor && { after: cursor }),
    });
    if (options.json) return context.terminal.out(JSON.stringify(page));
    if (page.facts.length === 0) return context.terminal.note(`no facts hold there (revision ${page.revision})`);
    printFacts(context, page.facts);
    tellNext(context.terminal, 'slate fact as-of', page.next);
  });
}
