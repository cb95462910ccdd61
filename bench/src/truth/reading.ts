import type { Client } from '@cleanslate/client';
import { z } from 'zod';
import { forEach, importAll, type Measure, readRows, share, toTextFact } from './measure.ts';

const Paragraph = z.object({ context: z.string().min(1), qas: z.array(z.object({ question: z.string() })) });
/** As SQuAD and its kin are written: the whole file is one object. */
const Reading = z.object({ data: z.array(z.object({ paragraphs: z.array(Paragraph) })) });

const SETTLE_MS = 120_000;

export function hasReading(folder: string): boolean {
  return readRows(folder, 'zh-reading', Reading) !== undefined;
}

/** Chinese questions, each answered by one paragraph. */
export async function* measureReading(folder: string, client: Client): AsyncGenerator<Measure> {
  const files = readRows(folder, 'zh-reading', Reading);
  if (files === undefined) return;
  const paragraphs = files.flatMap(({ data }) => data.flatMap((each) => each.paragraphs));
  const facts = paragraphs.map(({ context }, index) =>
    toTextFact(`p-${index}`, `paragraph ${index}`, [
      { value: '', statement: context, validFrom: null, validUntil: null },
    ]),
  );
  const revision = await importAll(client, 'paragraphs', facts);
  await untilEmbedded(client, paragraphs.at(-1)?.context ?? '');
  // One question of the set is empty.
  const questions = paragraphs
    .flatMap(({ qas }, index) => qas.map(({ question }) => ({ question, id: `p-${index}` })))
    .filter(({ question }) => question.trim() !== '');
  const validAt = new Date().toISOString();
  let first = 0;
  let ten = 0;
  const times: number[] = [];
  await forEach(questions, async ({ question, id }) => {
    const started = performance.now();
    const { hits } = await client.facts.search({ query: question, validAt, revision, limit: 10 });
    times.push(performance.now() - started);
    if (hits[0]?.fact.knowledgeId === id) first++;
    if (hits.some(({ fact }) => fact.knowledgeId === id)) ten++;
  });
  yield share('zh-reading: the paragraph comes first (R@1)', first, questions.length, 0.965);
  yield share('zh-reading: the paragraph is among ten (R@10)', ten, questions.length, 0.99);
  times.sort((a, b) => a - b);
  yield {
    name: 'zh-reading: time of a search over the bus, four at once',
    value: `p50 ${(times[times.length >> 1] ?? 0).toFixed(0)} ms`,
  };
}

/** Vectors follow the write. The last paragraph's own vector is the nearest to its text. */
async function untilEmbedded(client: Client, text: string): Promise<void> {
  for (const end = Date.now() + SETTLE_MS; Date.now() < end; ) {
    const { space } = await client.facts.search({ query: text.slice(0, 1_000), limit: 1 });
    if (space !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('nothing was embedded in time');
}
