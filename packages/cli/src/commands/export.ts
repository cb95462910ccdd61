import type { Client } from '@cleanslate/client';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { openJsonLines } from '../input/json-lines.ts';
import { openClient } from '../target.ts';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, parseCount, withCommonOptions, withExamples } from './options.ts';

type ExportOptions = CommonOptions & {
  readonly out: string;
  readonly resume?: boolean;
  readonly revision?: number;
  readonly validAt?: string;
};

/** A page of lines, what comes after it, and the revision that all pages are read at. */
type Page = { readonly lines: readonly object[]; readonly next: string | null; readonly revision: number };
type Read = (client: Client, after: string | undefined, revision: number | undefined) => Promise<Page>;

const PAGE = 200;

export function addExport(program: Command, context: CommandContext): void {
  const exports = program.command('export').description('export knowledge as JSON Lines, in a stable order');
  const pairs = withExport(
    exports
      .command('pairs')
      .description('export what was proposed, word for word, and what became of it: decision, reason, source, hashes'),
    context,
  );
  withExamples(pairs, 'slate export pairs --out pairs.jsonl', 'slate export pairs --out pairs.jsonl --resume');
  pairs.action((options: ExportOptions) => run(context, options, 'seq', readPairs));
  const facts = withExport(
    exports.command('facts').description('list every fact in force, by knowledge id'),
    context,
  ).option('--valid-at <time>', 'the moment in the world to ask about (default: now)');
  withExamples(
    facts,
    'slate export facts --out facts.jsonl --valid-at 2024-07-01 --revision 12',
    'slate export facts --out - | jq .statement',
  );
  facts.action((options: ExportOptions) => {
    const validAt = options.validAt === undefined ? new Date().toISOString() : parseTime(options.validAt, '--valid-at');
    return run(context, options, 'knowledgeId', readFacts(validAt));
  });
}

function withExport(command: Command, context: CommandContext): Command {
  command
    .addOption(new Option('--out <file>', 'file to write; "-" for stdout').makeOptionMandatory())
    .option('--resume', 'continue after the last complete line of the file, at its revision')
    .option('--revision <number>', 'as known at this revision (default: the latest)', parseCount);
  return withCommonOptions(command, context);
}

const readPairs: Read = async (client, after, revision) => {
  const page = await client.facts.pairs({
    limit: PAGE,
    ...(after && { after }),
    ...(revision !== undefined && { revision }),
  });
  return { lines: page.pairs, next: page.next, revision: page.revision };
};

function readFacts(validAt: string): Read {
  return async (client, after, revision) => {
    const page = await client.facts.asOf({
      limit: PAGE,
      validAt,
      ...(after && { after }),
      ...(revision !== undefined && { revision }),
    });
    return { lines: page.facts, next: page.next, revision: page.revision };
  };
}

/**
 * One page in memory at a time. Each line names the revision it was read at, so that an interrupted export can continue
 * at the same one.
 */
async function run(context: CommandContext, options: ExportOptions, key: string, read: Read): Promise<void> {
  const { terminal, signal } = context;
  await using file = await openJsonLines(options.out, { resume: options.resume ?? false, key, terminal });
  await using client = await openClient(context, options.tenant);
  let { after } = file;
  let revision = file.revision ?? options.revision;
  let count = 0;
  for (;;) {
    signal.throwIfAborted();
    const page = await read(client, after, revision);
    revision = page.revision;
    await file.write(page.lines.map((line) => ({ exportedAt: revision, ...line })));
    count += page.lines.length;
    terminal.status(`${count} lines`);
    if (page.next === null) break;
    after = page.next;
  }
  const done = { lines: count, revision, file: options.out };
  if (options.json && options.out !== '-') return terminal.out(JSON.stringify(done));
  terminal.note(`${count} lines at revision ${revision}${options.resume ? ', behind those that were there' : ''}`);
}
