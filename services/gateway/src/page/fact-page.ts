import type { FactView, Pin } from '@cleanslate/contracts';
import { beliefChart, isKnown } from './belief-chart.ts';
import { type PinRange, pinForm } from './facts-page.ts';
import { type Html, html, path } from './html.ts';
import type { PageView } from './layout.ts';
import { facts, short, table, taskLink, validity } from './parts.ts';

/** One fact: what is in force at the pin, and everything that was ever believed. */
export function factPage(versions: readonly FactView[], pin: Pin, range: PinRange): Omit<PageView, 'tenantId'> {
  const knowledgeId = versions[0]?.knowledgeId ?? '';
  const holds = versions.find((each) => holdsAt(each, pin));
  return {
    title: knowledgeId,
    place: '/facts',
    controls: html`<p class="crumbs"><a href="/facts">Facts</a> ›</p><h1>${knowledgeId}</h1>${pinForm(path`/facts/${knowledgeId}`, pin, range)}`,
    body: html`<section aria-label="What holds there">${holds ? current(holds) : html`<p class="empty">No version holds there.</p>`}</section>
<section aria-labelledby="versions"><h2 id="versions">Every version</h2>
${beliefChart(versions, pin)}
${table(
  'Versions, oldest first',
  ['Version', 'Statement', 'Valid', 'Believed at revisions', 'Source'],
  versions.map((each) => row(each, each === holds)),
)}</section>`,
  };
}

function current(fact: FactView): Html {
  return html`<figure class="paper"><blockquote class="text statement">${statement(fact)}</blockquote><figcaption>version ${fact.version} · valid ${validity(fact)}</figcaption></figure>
${facts([
  ['Source', fact.sourceRef],
  ['Kind', `${fact.knowledgeType}, ${fact.sourceType.replaceAll('_', ' ')}`],
  ['Weight', fact.weight],
  ['Confidence', fact.confidence],
  fact.tags.length > 0 && ['Tags', fact.tags.join(', ')],
])}`;
}

/** What it says; if it was erased on request, by whom, when and why. */
function statement({ statement: said, redacted }: FactView): Html | string {
  if (redacted === undefined) return said;
  return html`<span class="note">Redacted on ${redacted.at.slice(0, 10)} by ${redacted.by}: ${redacted.reason}</span>`;
}

function row(fact: FactView, holds: boolean): Html {
  const [, taskId] = /^task:([a-z0-9][a-z0-9_-]{0,62})/.exec(fact.sourceRef) ?? [];
  return html`<tr${holds && html` class="holds"`}><td>${fact.version}${holds && html` <span class="note">holds</span>`}</td><td class="text wide">${statement(fact)}</td>
<td class="nowrap">${validity(fact)}</td><td class="nowrap">${fact.revisionFrom} – ${fact.revisionUntil ?? 'now'}</td><td class="note">${short(fact.sourceRef)} ${taskId !== undefined && taskLink(taskId)}</td></tr>`;
}

function holdsAt(fact: FactView, pin: Pin): boolean {
  const at = Date.parse(pin.validAt);
  const from = fact.validFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(fact.validFrom);
  const until = fact.validUntil === null ? Number.POSITIVE_INFINITY : Date.parse(fact.validUntil);
  return from <= at && at < until && isKnown(fact, pin);
}
