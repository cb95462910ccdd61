import type { ErrorBody, FactView } from '@cleanslate/contracts';
import { type Html, html, path, query, type Value } from './html.ts';
import { day } from './time.ts';

/** What a state looks like: never distinguished by colour alone. */
const SIGNS: Readonly<Record<string, readonly [tone: string, sign: string]>> = {
  pending: ['wait', '○'],
  blocked: ['wait', '○'],
  ready: ['wait', '◌'],
  dispatched: ['wait', '◔'],
  backing_off: ['warn', '↻'],
  executing: ['work', '◐'],
  awaiting_validation: ['work', '◕'],
  completed: ['good', '✓'],
  done: ['good', '✓'],
  failed: ['bad', '✕'],
  open: ['bad', '!'],
  replaying: ['work', '↻'],
  closed: ['good', '✓'],
  discarded: ['wait', '–'],
  waiting: ['wait', '○'],
  held: ['warn', '‖'],
  accepted: ['good', '✓'],
  updated: ['good', '✓'],
  duplicate: ['wait', '='],
  disputed: ['warn', '?'],
  rejected: ['bad', '✕'],
  dropped: ['wait', '–'],
};

export function badge(state: string): Html {
  const [tone, sign] = SIGNS[state] ?? ['wait', '·'];
  return html`<span class="badge ${tone}"><span aria-hidden="true">${sign}</span> ${state.replaceAll('_', ' ')}</span>`;
}

/** A table that scrolls by itself if it is wider than the window, also by keyboard. */
export function table(caption: string, head: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="unseen">${caption}</caption>
<thead><tr>${head.map((name) => html`<th scope="col">${name === '' ? html`<span class="unseen">Action</span>` : name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

export function empty(text: Value): Html {
  return html`<p class="empty">${text}</p>`;
}

export function older(href: string | null): Html | false {
  return href !== null && html`<p class="pages"><a rel="next" href="${href}">Older →</a></p>`;
}

export function errorBox(title: string, error: ErrorBody, more?: Value): Html {
  const remedy = error.details?.['remedy'];
  return html`<section class="box bad" aria-label="${title}"><h2><span aria-hidden="true">✕</span> ${title}: <code>${error.code}</code></h2>
<p class="text">${error.message}</p>${typeof remedy === 'string' && html`<p>To do: ${remedy}</p>`}${more}</section>`;
}

export function json(value: unknown): Html {
  return html`<pre class="json" tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
}

/** Collapsed: for what is long and rarely wanted. */
export function fold(summary: Value, body: Value): Html {
  return html`<details><summary>${summary}</summary>${body}</details>`;
}

export function facts(entries: readonly (readonly [name: string, value: Value] | false)[]): Html {
  return html`<dl class="facts">${entries.map((entry) => entry && html`<div><dt>${entry[0]}</dt><dd>${entry[1]}</dd></div>`)}</dl>`;
}

/** A choice of one; the first is "any". */
export function select(name: string, label: string, options: readonly string[], chosen: string | undefined): Html {
  return html`<label>${label} <select name="${name}"><option value="">any</option>${options.map(
    (option) =>
      html`<option value="${option}"${option === chosen && html` selected`}>${option.replaceAll('_', ' ')}</option>`,
  )}</select></label>`;
}

export function validity(fact: Pick<FactView, 'validFrom' | 'validUntil'>): string {
  if (fact.validFrom === null && fact.validUntil === null) return 'always';
  return `${day(fact.validFrom, 'ever')} – ${day(fact.validUntil, 'open')}`;
}

export type PinQuery = { readonly validAt?: string | undefined; readonly revision?: number | undefined };

export function factLink(knowledgeId: string, text: Value, pin: PinQuery = {}): Html {
  return html`<a href="${path`/facts/${knowledgeId}`}${query(pin)}">${text}</a>`;
}

/** A long id in little room: cut by the style, complete in its title. */
export function short(text: string): Html {
  return html`<span class="short" title="${text}">${text}</span>`;
}

export function taskLink(taskId: string): Html {
  return html`<a class="id" href="${path`/tasks/${taskId}`}">${taskId}</a>`;
}
