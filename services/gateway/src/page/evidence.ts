import { FactRef, type TaskView } from '@cleanslate/contracts';
import { z } from 'zod';
import { type Html, html, path, query } from './html.ts';
import { fromMarkdown } from './markdown.ts';
import { fold, json } from './parts.ts';
import { day } from './time.ts';

const Span = z.object({ start: z.number(), end: z.number() });
/** What a result rests on, as the built-in workflows write it. Other results are shown as they are. */
const Evidence = z.union([
  z.object({ type: z.literal('document'), quote: z.string(), span: Span }),
  z.object({
    type: z.literal('fact'),
    policy: FactRef,
    statement: z.string(),
    validFrom: z.string().nullable(),
    validUntil: z.string().nullable(),
  }),
]);
type Evidence = z.infer<typeof Evidence>;
const Result = z.object({ markdown: z.string().optional(), evidence: z.array(z.unknown()).optional() });

/** The result for people, then what it rests on, with the exact passages and fact versions. */
export function result(task: Pick<TaskView, 'result' | 'pin'>): Html | undefined {
  if (task.result === null || task.result === undefined) return undefined;
  const known = Result.safeParse(task.result).data;
  const evidence = (known?.evidence ?? []).flatMap((each) => Evidence.safeParse(each).data ?? []);
  const text = known?.markdown;
  const shown =
    text === undefined
      ? json(task.result)
      : html`<div class="paper">${fromMarkdown(text)}</div>${fold('The same as data', json(task.result))}`;
  if (evidence.length === 0)
    return html`<section aria-labelledby="result"><h2 id="result">Result</h2>${shown}</section>`;
  return html`<div class="columns"><section aria-labelledby="result"><h2 id="result">Result</h2>${shown}</section>
<section class="beside" aria-labelledby="evidence"><h2 id="evidence">Evidence</h2>${list(evidence, task.pin)}</section></div>`;
}

function list(evidence: readonly Evidence[], pin: TaskView['pin']): Html {
  const quotes = evidence.filter((each) => each.type === 'document');
  const cited = evidence.filter((each) => each.type === 'fact');
  return html`<h3>Passages of the document</h3>
${quotes.map(
  ({ quote, span }) =>
    html`<figure><blockquote class="text">${quote}</blockquote><figcaption>characters ${span.start}–${span.end}</figcaption></figure>`,
)}
<h3>Facts, as known to the task</h3>${cited.map((fact) => citedFact(fact, pin))}`;
}

function citedFact(fact: Extract<Evidence, { type: 'fact' }>, pin: TaskView['pin']): Html {
  const [knowledgeId = '', version] = fact.policy.split('@');
  return html`<figure><blockquote class="text">${fact.statement}</blockquote>
<figcaption><a href="${path`/facts/${knowledgeId}`}${query(pin)}">${knowledgeId}, version ${version}</a> · valid ${day(fact.validFrom, 'ever')} – ${day(fact.validUntil, 'open')}</figcaption></figure>`;
}
