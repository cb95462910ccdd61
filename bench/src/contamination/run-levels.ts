import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@cleanslate/client';
import { Verdict } from '@cleanslate/contracts';
import type { SanitizeLevel } from '@cleanslate/domain';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, SERVICE_NAMES, startPlatform } from '@cleanslate/testing';
import { ContractReport } from '@cleanslate/workflows';
import { type Marked, mark } from './answer-key.ts';
import { termsOf, writeContract } from './contracts.ts';
import { foreignImport, importsOf, RETRACTED } from './policies.ts';
import { contaminationWorkflow } from './workflow.ts';

/** The five that are asked for, one line a level. */
export type LevelResult = Marked & {
  /** Share of the reviews that completed and in which the key finds nothing wrong. */
  readonly successRate: number;
  readonly p50Ms: number;
  readonly tasksPerSecond: number;
};

/** What is told beside them. */
export type LevelStory = {
  readonly result: LevelResult;
  /** Reports in which the key found something wrong, and how many of them our validator turned down. */
  readonly wrong: number;
  readonly wrongTurnedDown: number;
  /** Reports in which the key found nothing wrong, and that our validator turned down all the same. */
  readonly rightTurnedDown: number;
};

/** A level, or the workflow as it is shipped: it reads at the pin, cleans fully, and acts on the verdict. */
export type Path = SanitizeLevel | 'shipped';

export type LevelStories = {
  readonly paths: ReadonlyMap<Path, LevelStory>;
  /** Facts that the agents' scratch text had become by the end. */
  readonly scratchFacts: number;
};

export type RunOptions = {
  readonly postgresAdminUrl: string;
  readonly dir: string;
  readonly paths: readonly Path[];
  readonly reviews: number;
  /** Reviews on each path before those that count. Default 5. */
  readonly warmUp?: number;
};

/** Contracts of the warm-up are none of those that count. */
const WARM_UP_FROM = 1_000_000;

/**
 * Each contract on each path in turn, one review at a time: all meet the same base, the scratch facts that the reviews
 * of all of them left there, and the same neighbours on the machine. Who is first changes with every contract.
 */
export async function runLevels({
  postgresAdminUrl,
  dir,
  paths,
  reviews,
  warmUp = 5,
}: RunOptions): Promise<LevelStories> {
  const workflows = join(dir, 'workflows');
  await mkdir(workflows, { recursive: true });
  await writeFile(join(workflows, 'contamination-review.json'), JSON.stringify(contaminationWorkflow.plan));
  await using platform = await startPlatform({
    postgresAdminUrl,
    services: SERVICE_NAMES.filter((name) => name !== 'analyzer'),
    env: { LOG_LEVEL: 'warn', WORKFLOWS_DIR: workflows },
  });
  await platform.start('analyzer', {}, join(checkoutRoot, 'bench/src/contamination/scratch-analyzer-main.ts'));
  await seed(platform);
  const client = await platform.client('acme');
  for (let index = 0; index < warmUp; index++)
    for (const path of paths) await review(client, WARM_UP_FROM + index, path);
  const done = new Map<Path, Reviewed[]>(paths.map((path) => [path, []]));
  for (let index = 0; index < reviews; index++) {
    const first = index % paths.length;
    for (const path of [...paths.slice(first), ...paths.slice(0, first)])
      done.get(path)?.push(await review(client, index, path));
  }
  const stories = new Map<Path, LevelStory>();
  for (const [path, reviewed] of done) stories.set(path, await tally(client, reviewed));
  const scratchFacts = await countScratch(platform);
  await Promise.all(platform.services.filter(({ exit }) => exit === undefined).map((service) => service.stop()));
  return { paths: stories, scratchFacts };
}

async function seed(platform: Platform): Promise<void> {
  const client = await platform.client('acme');
  for (const set of importsOf()) await client.facts.import(set);
  await client.facts.retract({ knowledgeId: RETRACTED, reason: 'a mistake' });
  await (await platform.client('globex')).facts.import(foreignImport());
}

type Reviewed = Marked & { readonly taskId: string; readonly completed: boolean; readonly ms: number };

/** From the submit to the result, as a client sees it. */
async function review(client: Client, index: number, path: Path): Promise<Reviewed> {
  const terms = termsOf(index);
  const document = { name: `contract-${index}.md`, mediaType: 'text/markdown', text: writeContract(terms, index) };
  const startedAt = performance.now();
  const { taskId } = await client.submit(
    path === 'shipped'
      ? { workflow: 'contract-review', input: { document } }
      : { workflow: contaminationWorkflow.name, input: { document, sanitize: path } },
  );
  const { state, result } = await client.result(taskId);
  const ms = performance.now() - startedAt;
  const report = ContractReport.safeParse(result);
  const marked = report.success ? mark(report.data, terms) : { wrongVersionUses: 0, leaks: 0, misjudgements: 0 };
  return { ...marked, taskId, completed: state === 'completed' && report.success, ms };
}

function isRight({ completed, wrongVersionUses, leaks, misjudgements }: Reviewed): boolean {
  return completed && wrongVersionUses + leaks + misjudgements === 0;
}

async function tally(client: Client, reviewed: readonly Reviewed[]): Promise<LevelStory> {
  const sum = (field: keyof Marked | 'ms') => reviewed.reduce((total, each) => total + each[field], 0);
  const latencies = reviewed.map(({ ms }) => ms).sort((one, other) => one - other);
  const right = reviewed.filter(isRight);
  const wrong = reviewed.filter((each) => !isRight(each));
  return {
    result: {
      successRate: right.length / reviewed.length,
      wrongVersionUses: sum('wrongVersionUses'),
      leaks: sum('leaks'),
      misjudgements: sum('misjudgements'),
      p50Ms: latencies[Math.floor(latencies.length / 2)] ?? 0,
      tasksPerSecond: (1_000 * reviewed.length) / sum('ms'),
    },
    wrong: wrong.length,
    wrongTurnedDown: await countTurnedDown(client, wrong),
    rightTurnedDown: await countTurnedDown(client, right),
  };
}

async function countTurnedDown(client: Client, reviewed: readonly Reviewed[]): Promise<number> {
  let turnedDown = 0;
  for (const { taskId } of reviewed) {
    const { steps } = await client.steps(taskId);
    const verdict = Verdict.parse(steps.find(({ planKey }) => planKey === 'validate')?.output);
    if (verdict.decision !== 'pass') turnedDown += 1;
  }
  return turnedDown;
}

async function countScratch(platform: Platform): Promise<number> {
  const rows = await platform.database.sql<{ facts: number }>(
    "SELECT count(DISTINCT knowledge_id)::int AS facts FROM knowledge.fact_versions WHERE source_ref = 'scratch'",
  );
  return rows[0]?.facts ?? 0;
}
