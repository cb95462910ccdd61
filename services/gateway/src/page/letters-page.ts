import { type DeadLetterList, DeadLetterSummary, type DeadLetterView, type ValueOf } from '@cleanslate/contracts';
import { type Html, html, path, query } from './html.ts';
import type { PageView } from './layout.ts';
import { badge, empty, errorBox, facts, fold, json, older, select, table, taskLink } from './parts.ts';
import { age, moment } from './time.ts';

export type LettersFilter = { readonly status?: string; readonly reason?: string; readonly cursor?: string };

/** What was given up on. */
export function lettersPage(
  { letters, next }: ValueOf<typeof DeadLetterList>,
  filter: LettersFilter,
): Omit<PageView, 'tenantId'> {
  return {
    title: 'Dead letters',
    place: '/dead-letters',
    live: { everyMs: 5_000 },
    controls: html`<h1>Dead letters</h1><p class="lead">Work and messages that were given up on, each kept with its bytes and its story.</p>
<form class="filter" method="get" action="/dead-letters">${select('status', 'Status', DeadLetterSummary.shape.status.options, filter.status)}
<label>Reason <input name="reason" value="${filter.reason}" size="24" placeholder="ATTEMPTS_EXHAUSTED" autocomplete="off" spellcheck="false"></label><button>Filter</button></form>`,
    body: [
      letters.length === 0
        ? empty(
            filter.status === undefined && filter.reason === undefined
              ? 'None: nothing was given up on.'
              : 'No letter is like that.',
          )
        : table(
            'Dead letters, last failed first',
            ['Status', 'Reason', 'Of', 'What it said', 'Last failed', ''],
            letters.map(row),
          ),
      older(next === null ? null : `/dead-letters${query({ ...filter, cursor: next })}`),
    ],
  };
}

function row(letter: DeadLetterSummary): Html {
  const of = letter.stepId === null ? 'a message' : `${letter.stepId}, attempt ${letter.attempt ?? '?'}`;
  return html`<tr><td>${badge(letter.status)}${letter.needsHuman && html`<p class="note">needs a person</p>`}</td><td><code>${letter.reason}</code></td>
<td>${of}<p class="note">${letter.workflow}</p></td><td class="text wide">${letter.message.slice(0, 200)}</td><td>${age(letter.lastFailedAt)}</td>
<td><a href="${path`/dead-letters/${letter.letterId}`}">Look at it</a></td></tr>`;
}

/** One letter, and what can be done about it. */
export function letterPage(letter: DeadLetterView): Omit<PageView, 'tenantId'> {
  const at = path`/dead-letters/${letter.letterId}`;
  return {
    title: `Dead letter ${letter.letterId}`,
    place: '/dead-letters',
    body: html`<p class="crumbs"><a href="/dead-letters">Dead letters</a> ›</p>
<div class="head"><h1>${letter.stepId ?? 'Message'}</h1>${badge(letter.status)}</div>
${facts([
  ['Letter', html`<span class="id">${letter.letterId}</span>`],
  letter.taskId !== null && ['Task', taskLink(letter.taskId)],
  letter.workflow !== null && ['Workflow', letter.workflow],
  letter.attempt !== null && ['Attempt', letter.attempt],
  ['Replays', letter.replays],
  ['First failed', age(letter.firstFailedAt)],
  ['Last failed', age(letter.lastFailedAt)],
])}
${errorBox('Given up on with', letter.error)}
${letter.status === 'open' && decide(at)}
<section aria-labelledby="story"><h2 id="story">Its story</h2>
<ol class="story">${letter.history.map(
      (entry) =>
        html`<li><span class="note">${moment(entry.at)}</span> ${entry.what.replaceAll('_', ' ')}${entry.attempt !== null && `, attempt ${entry.attempt}`}${entry.error && html`: <code>${entry.error.code}</code> <span class="text">${entry.error.message}</span>`}</li>`,
    )}</ol></section>
<section aria-labelledby="content"><h2 id="content">Its content</h2>
${facts([
  ['Subject', html`<code>${letter.subject ?? '–'}</code>`],
  ['Stream', letter.stream ?? '–'],
])}
${body(letter.body)}${letter.edited !== null && letter.edited !== undefined && fold('What the last replay was given instead', body(letter.edited))}
${fold('Headers', json(letter.headers))}</section>`,
  };
}

function decide(at: string): Html {
  return html`<section class="box" aria-labelledby="decide"><h2 id="decide">What now?</h2>
<form class="row" method="post" action="${at}/replay"><button class="main">Replay it</button> <span class="note">Another attempt with the same content. To change it: <code>slate dlq replay --set</code>.</span></form>
<form class="row" method="post" action="${at}/discard"><label>Because <input name="reason" required maxlength="500" size="40"></label><button>Discard it</button></form></section>`;
}

const SHOWN = 100_000;

function body(base64: string | null): Html {
  if (base64 === null) return html`<p class="note">No bytes were kept.</p>`;
  const bytes = Buffer.from(base64, 'base64');
  const cut = bytes.length > SHOWN ? html`<p class="note">The first ${SHOWN} of ${bytes.length} bytes.</p>` : undefined;
  return html`${cut}<pre class="json" tabindex="0">${readable(bytes.subarray(0, SHOWN))}</pre>`;
}

function readable(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
