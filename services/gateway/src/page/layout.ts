import { type Html, html, toMarkup, type Value } from './html.ts';

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // With `no-referrer` a browser's form would come from the origin "null".
  'referrer-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
} as const;

const PLACES = [
  ['/', 'Tasks'],
  ['/facts', 'Facts'],
  ['/blackboard', 'Blackboard'],
  ['/dead-letters', 'Dead letters'],
  ['/schedules', 'Schedules'],
] as const;

export type PageView = {
  readonly title: string;
  /** The place it belongs to. */
  readonly place?: (typeof PLACES)[number][0];
  /** Undefined: nobody is signed in. */
  readonly tenantId?: string | undefined;
  /** What has just been done, for a person. */
  readonly said?: string | undefined;
  /** Stays as it is while the rest is updated. */
  readonly controls?: Value;
  readonly body: Value;
  /** How a script keeps it up to date: by a stream of events, or by asking again now and then. */
  readonly live?: { readonly events: string } | { readonly everyMs: number };
};

export type AssetUrls = { readonly style: string; readonly live: string; readonly login: string };

export function toPage(view: PageView, assets: AssetUrls): string {
  const { live } = view;
  const events = live !== undefined && 'events' in live && live.events;
  const every = live !== undefined && 'everyMs' in live && live.everyMs;
  return `<!doctype html>\n${toMarkup(html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · Cleanslate</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${view.tenantId === undefined ? assets.login : assets.live}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22">Cleanslate</a>
${view.tenantId !== undefined && navigation(view.place, view.tenantId)}
</header>
<main id="main" tabindex="-1">
${view.said !== undefined && html`<p class="said" role="status">${view.said}</p>`}
${view.controls}
<div id="live" data-events="${events}" data-every="${every}">
${view.body}
</div>
</main>
<div id="announce" class="unseen" aria-live="polite"></div>
</body>
</html>`)}`;
}

function navigation(place: PageView['place'], tenantId: string): Html {
  return html`<nav aria-label="Places"><ul>
${PLACES.map(([href, name]) => html`<li><a href="${href}"${href === place && html` aria-current="page"`}>${name}</a></li>`)}
</ul></nav>
<form class="session" method="post" action="/logout"><span>tenant <strong>${tenantId}</strong></span> <button class="quiet">Sign out</button></form>`;
}
