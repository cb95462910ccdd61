import type { FactAsOf, FactView, Pin, ValueOf } from '@cleanslate/contracts';
import { type Html, html, query, type Value } from './html.ts';
import type { PageView } from './layout.ts';
import { empty, factLink, older, short, table, validity } from './parts.ts';

/** Where the sliders can go. */
export type PinRange = { readonly from: string; readonly until: string; readonly lastRevision: number };
export type Asked = { readonly validAt?: string; readonly revision?: number; readonly prefix?: string };

/** Every fact in force at one moment, as it was known at one revision. */
export function factsPage(
  { facts, next }: ValueOf<typeof FactAsOf>,
  pin: Pin,
  range: PinRange,
  asked: Asked,
): Omit<PageView, 'tenantId'> {
  return {
    title: 'Facts',
    place: '/facts',
    controls: html`<h1>Facts</h1><p class="lead">What holds at a moment in the world, as it was known at a revision of the knowledge base.</p>
${pinForm('/facts', pin, range, html`<label>Id begins with <input name="prefix" value="${asked.prefix}" size="18" autocomplete="off" spellcheck="false"></label>`)}`,
    body: [
      facts.length === 0
        ? empty(html`No fact held then. <a href="/facts">What holds now?</a>`)
        : table(
            'Facts by id',
            ['Fact', 'Statement', 'Valid', 'Source'],
            facts.map((fact) => row(fact, asked)),
          ),
      older(next === null ? null : `/facts${query({ ...asked, cursor: next })}`),
    ],
  };
}

function row(fact: FactView, { validAt, revision }: Asked): Html {
  return html`<tr><td>${factLink(fact.knowledgeId, short(fact.knowledgeId), { validAt, revision })}<p class="note">version ${fact.version}</p></td>
<td class="text wide">${fact.statement}</td><td class="nowrap">${validity(fact)}</td><td class="note">${short(fact.sourceRef)}<br>${fact.sourceType.replaceAll('_', ' ')}</td></tr>`;
}

/** The two time axes as plain fields; a script puts a slider beside each. */
export function pinForm(action: string, pin: Pin, range: PinRange, more?: Value): Html {
  // A field of whole seconds: what began within this one must not be left out.
  const validAt = new Date(Math.ceil(Date.parse(pin.validAt) / 1_000) * 1_000).toISOString().slice(0, 19);
  return html`<form class="filter pin" method="get" action="${action}" data-pin>
<div><label for="validAt">Valid at (UTC)</label> <input type="datetime-local" id="validAt" name="validAt" value="${validAt}" step="1">
<input type="range" hidden aria-label="Valid at, as a slider" data-for="validAt" data-from="${range.from}" data-until="${range.until}"></div>
<div><label for="revision">Known at revision</label> <input type="number" id="revision" name="revision" value="${pin.revision}" min="0" max="${range.lastRevision}">
<input type="range" hidden aria-label="Known at revision, as a slider" data-for="revision" min="0" max="${range.lastRevision}"></div>
${more}<button>Show</button></form>`;
}
