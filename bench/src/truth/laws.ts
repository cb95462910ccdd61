import { createHash } from 'node:crypto';
import type { Client } from '@cleanslate/client';
import { z } from 'zod';
import { forEach, importAll, type Measure, none, readRows, share, toTextFact } from './measure.ts';

const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'a day such as 2024-06-30');
const Text = z.string().min(1);
const Article = z.object({
  law: Text,
  old_no: Text,
  new_no: Text,
  old: Text,
  new: Text,
  old_passed: Day,
  new_passed: Day,
  old_effective: Day.nullish(),
  new_effective: Day.nullish(),
});

type Version = { readonly id: string; readonly day: string; readonly text: string };

const DAY_MS = 86_400_000;
const MAX_QUERY = 8_000;
const midnight = (day: string) => `${day}T00:00:00.000Z`;
const before = (day: string) => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);

/** An amendment may repeat the date on which the law first came into force: then it is the day it was passed. */
const inForce = (effective: string | null | undefined, passed: string) =>
  effective != null && effective >= passed ? effective : passed;

export function hasLaws(folder: string): boolean {
  return readRows(folder, 'zh-laws', Article) !== undefined;
}

/** Articles of statutes in two versions: both clocks, and search by an article's own wording. */
export async function* measureLaws(folder: string, client: Client): AsyncGenerator<Measure> {
  const rows = readRows(folder, 'zh-laws', Article);
  if (rows === undefined) return;
  const articles = distinct(rows)
    .map((row) => ({
      id: toId(row),
      name: `${row.law} ${row.old_no}`,
      old: row.old,
      new: row.new,
      from: inForce(row.old_effective, row.old_passed),
      changed: inForce(row.new_effective, row.new_passed),
    }))
    .filter(({ from, changed }) => from < changed);
  yield { name: 'zh-laws: articles with two versions in order', value: `${articles.length} of ${rows.length}` };
  const older = articles.map((row) =>
    toTextFact(row.id, row.name, [{ value: '', statement: row.old, validFrom: midnight(row.from), validUntil: null }]),
  );
  const known = await importAll(client, 'statutes', older);
  const newer = articles.map((row) =>
    toTextFact(row.id, row.name, [
      { value: '', statement: row.new, validFrom: midnight(row.changed), validUntil: null },
    ]),
  );
  const revision = await importAll(client, 'statutes, amended', newer);
  const versions = articles.flatMap(({ id, changed, ...row }): Version[] => [
    { id, day: before(changed), text: row.old },
    { id, day: changed, text: row.new },
  ]);
  yield* measureClocks(client, articles, versions, known);
  yield await measureWording(client, versions, revision);
}

/** An article that was split became several: each is the line from the old number to one of the new ones. */
function toId({ law, old_no, new_no }: z.infer<typeof Article>): string {
  return `law-${createHash('sha256').update(`${law}/${old_no}/${new_no}`).digest('hex').slice(0, 16)}`;
}

function distinct(rows: readonly z.infer<typeof Article>[]): z.infer<typeof Article>[] {
  return [...new Map(rows.map((row) => [toId(row), row])).values()];
}

async function* measureClocks(
  client: Client,
  articles: readonly { readonly id: string; readonly changed: string; readonly old: string }[],
  versions: readonly Version[],
  known: number,
): AsyncGenerator<Measure> {
  let right = 0;
  await forEach(versions, async ({ id, day, text }) => {
    const { fact } = await client.facts.get({ knowledgeId: id, validAt: day });
    if (fact.statement === text) right++;
  });
  yield none('zh-laws: wrong version the day before and the day of a change', versions.length - right, versions.length);
  let believed = 0;
  await forEach(articles, async ({ id, changed, old }) => {
    const { fact } = await client.facts.get({ knowledgeId: id, validAt: changed, revision: known });
    if (fact.statement === old) believed++;
  });
  yield none('zh-laws: wrong version as known before the amendment was', articles.length - believed, articles.length);
}

async function measureWording(client: Client, versions: readonly Version[], revision: number): Promise<Measure> {
  let first = 0;
  await forEach(versions, async ({ day, text }) => {
    const { hits } = await client.facts.search({ query: text.slice(0, MAX_QUERY), validAt: day, revision, limit: 1 });
    if (hits[0]?.fact.statement === text) first++;
  });
  return share("zh-laws: an article's own wording finds that date's version first", first, versions.length, 0.97);
}
