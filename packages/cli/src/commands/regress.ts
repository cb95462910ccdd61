import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { inputError } from '../input-error.ts';
import { type Asked, askAll } from '../regress/ask.ts';
import { Baseline, type CategoryReport, compare, ZERO_TOLERANCE } from '../regress/compare.ts';
import { readQuestionSet } from '../regress/question-set.ts';
import { openClient } from '../target.ts';
import type { Terminal } from '../terminal.ts';
import { toTable } from '../view/table.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type RegressOptions = CommonOptions & {
  readonly baseline?: string;
  readonly update?: boolean;
  readonly answers?: boolean;
};

const HELP = `
Fails (exit code 1) when a category lost more than 5 points against the baseline and the paired test (McNemar) says that it is no noise, or when one of these
is not zero: a stale version, another tenant's fact, erased content, a changed number. Without a baseline only these are looked at.`;

export function addRegress(program: Command, context: CommandContext): void {
  const command = program
    .command('regress <file>')
    .description('ask a set of questions and compare the answers with a baseline')
    .option('--baseline <file>', 'what to compare with (default: NAME.baseline.json beside the set)')
    .option('--update', 'keep this run as the new baseline')
    .option('--answers', 'also have the question-answering workflow answer the questions that have an answer');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate regress infra/samples/regress.yaml --update   # once, when all is well',
    'slate regress infra/samples/regress.yaml            # after a change of model, settings or knowledge',
  );
  command.addHelpText('after', HELP);
  command.action(async (file: string, options: RegressOptions) => {
    const { terminal } = context;
    const set = await readQuestionSet(file);
    const path = options.baseline ?? `${file.replace(/\.(ya?ml|json)$/, '')}.baseline.json`;
    const before = await readBaseline(path, options.baseline !== undefined && !options.update);
    await using client = await openClient(context, options.tenant);
    const asked = await askAll(client, set, options.answers === true);
    const categories = compare(asked, before);
    const counters = Object.fromEntries(
      ZERO_TOLERANCE.map((kind) => [
        kind,
        asked.flatMap(({ violations }) => violations).filter((each) => each === kind).length,
      ]),
    );
    const failed = categories.some(({ dropped }) => dropped) || Object.values(counters).some((count) => count > 0);
    if (options.update) await writeBaseline(path, asked);
    if (options.json)
      terminal.out(
        JSON.stringify({ failed, counters, categories, baseline: before === null ? null : path, questions: asked }),
      );
    else show(terminal, { failed, counters, categories, asked, path: before === null ? null : path });
    if (failed) context.exitCode = EXIT.taskFailed;
  });
}

async function readBaseline(path: string, wanted: boolean): Promise<Baseline | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (absent && !wanted) return null;
    throw inputError({ what: `${path} can't be read`, where: '--baseline', remedy: 'make it with --update' }, error);
  }
  const remedy = 'create it again with --update';
  try {
    return Baseline.parse(JSON.parse(text));
  } catch (error) {
    throw inputError({ what: `${path} is no baseline of this command`, where: '--baseline', remedy }, error);
  }
}

async function writeBaseline(path: string, asked: readonly Asked[]): Promise<void> {
  const baseline: Baseline = {
    format: 1,
    madeAt: new Date().toISOString(),
    revision: Math.max(...asked.map(({ revision }) => revision)),
    space: asked[0]?.space ?? null,
    questions: asked.map(({ id, category, fingerprint, passed }) => ({ id, category, fingerprint, passed })),
  };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(baseline, null, 2)}\n`);
}

type Shown = {
  readonly failed: boolean;
  readonly counters: Readonly<Record<string, number>>;
  readonly categories: readonly CategoryReport[];
  readonly asked: readonly Asked[];
  readonly path: string | null;
};

function show({ out, style }: Terminal, { failed, counters, categories, asked, path }: Shown): void {
  for (const { id, why, found } of asked.filter(({ passed }) => !passed)) {
    out(`${style('red', '✕')} ${id}: ${why.join('; ')}`);
    out(`    found ${found.join(', ') || 'nothing'}`);
  }
  const rows = categories.map((each) => [
    each.category,
    `${each.passed} of ${each.asked}`,
    each.before === null ? '–' : `${percent(each.before)} → ${percent(each.now ?? 0)}`,
    each.p === null ? '–' : each.p.toFixed(3),
    each.dropped
      ? style('red', 'dropped')
      : each.compared < each.asked
        ? `${each.asked - each.compared} not compared`
        : '',
  ]);
  for (const line of toTable(['CATEGORY', 'RIGHT', 'BASELINE → NOW', 'P', ''], rows)) out(line);
  out(
    `must be zero: ${Object.entries(counters)
      .map(([kind, count]) => `${kind.replace('_', ' ')} ${count}`)
      .join(', ')}`,
  );
  if (failed) return out(style('red', 'worse than it may be'));
  if (path === null) return out('not compared: there is no baseline; --update keeps this run as one');
  out(style('green', 'as good as before, or no worse than chance'));
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}
