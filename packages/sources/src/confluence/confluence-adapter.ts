import { z } from 'zod';
import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import { QUERY_PARAM } from '../guard/read-params.ts';
import { checkStatus } from '../http/check-status.ts';
import { createGuardedFetch, type FetchOptions, type GuardedFetch } from '../http/guarded-fetch.ts';
import { readAnswer } from '../mapping/read-answer.ts';
import { readJson } from '../mapping/read-json.ts';
import { scoreOfPlace } from '../mapping/record-to-hit.ts';
import { toUtcTime } from '../mapping/to-utc-time.ts';
import { countTerms, rankPassages } from '../passages/rank-passages.ts';
import { type Passage, splitPassages, toSearchText } from '../passages/split-passages.ts';
import { type CqlScope, toCql } from './cql.ts';
import { storageToText } from './storage-to-text.ts';

export type ConfluenceOptions = FetchOptions & {
  /** Base with its context: `https://acme.atlassian.net/wiki`, `https://confluence.example.com`. */
  readonly url: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly scope: CqlScope;
  /** Most pages of the wiki that one question reads. */
  readonly maxPages: number;
};

const Content = z.object({
  id: z.string(),
  title: z.string(),
  body: z.object({ storage: z.object({ value: z.string() }) }),
  version: z.object({ number: z.int().positive(), when: z.string().optional() }),
  _links: z.object({ webui: z.string().optional() }).optional(),
});
type Content = z.infer<typeof Content>;
const SearchAnswer = z.object({
  // A search also finds spaces and people, which have no content.
  results: z.array(z.object({ content: Content.optional() })),
  _links: z.object({ next: z.string().optional() }).optional(),
});

/** With bodies, Confluence returns no more than 50 at once; large pages make such an answer long. */
const PAGE_SIZE = 10;
const EXPAND = 'content.body.storage,content.version';

/**
 * Pages of a Confluence (Cloud or Data Center) that a CQL search finds, cut into passages and
 * ranked by the question's words.
 */
export function confluenceAdapter(options: ConfluenceOptions): SourceAdapter {
  const guarded = createGuardedFetch(options);
  const base = new URL(options.url.replace(/\/+$/, ''));
  const find = async ({ query }: Record<string, unknown>, { limit, signal }: FindContext): Promise<Hit[]> => {
    const cql = toCql(String(query), options.scope);
    if (cql === null) return [];
    const pages = await search(guarded, options, base, cql, signal);
    return toHits(pages, base, String(query), limit);
  };
  return {
    kind: 'confluence',
    freshness: 'live',
    params: [QUERY_PARAM],
    find,
    check: async (signal) => {
      const { results } = await ask(guarded, options, searchUrl(base, 'type = page', 1), signal);
      return results.length === 0
        ? 'answers, and shows no page to this login'
        : 'answers, and shows pages to this login';
    },
    [Symbol.asyncDispose]: () => guarded[Symbol.asyncDispose](),
  };
}

async function search(
  guarded: GuardedFetch,
  options: ConfluenceOptions,
  base: URL,
  cql: string,
  signal: AbortSignal,
): Promise<Content[]> {
  const pages = new Map<string, Content>();
  let url: URL | undefined = searchUrl(base, cql, Math.min(PAGE_SIZE, options.maxPages));
  while (url !== undefined && pages.size < options.maxPages) {
    const answer: z.infer<typeof SearchAnswer> = await ask(guarded, options, url, signal);
    const before = pages.size;
    for (const { content } of answer.results) if (content !== undefined) pages.set(content.id, content);
    const next: string | undefined = answer._links?.next;
    // A page of results that adds nothing is the last one, whatever it says.
    url = next === undefined || pages.size === before ? undefined : nextUrl(base, next);
  }
  return [...pages.values()].slice(0, options.maxPages);
}

function searchUrl(base: URL, cql: string, limit: number): URL {
  const url = new URL(`${base.href.replace(/\/$/, '')}/rest/api/search`);
  url.searchParams.set('cql', cql);
  url.searchParams.set('limit', String(limit));
  url.searchParams.set('expand', EXPAND);
  return url;
}

/** A path, with or without the context. Links elsewhere are not followed: that would take the login along. */
function nextUrl(base: URL, next: string): URL | undefined {
  const context = base.pathname.replace(/\/$/, '');
  const path = context !== '' && next.startsWith(`${context}/`) ? next : `${context}${next}`;
  if (!next.startsWith('/') || next.startsWith('//') || !URL.canParse(path, base.origin)) return undefined;
  const url = new URL(path, base.origin);
  return url.origin === base.origin ? url : undefined;
}

async function ask(guarded: GuardedFetch, { source, credentials }: ConfluenceOptions, url: URL, signal: AbortSignal) {
  const answer = await guarded.fetch(url, { credentials, headers: { accept: 'application/json' }, signal });
  checkStatus(source, answer);
  return readAnswer(source, SearchAnswer, readJson(source, answer.body));
}

type PagePassage = { readonly page: Content; readonly passage: Passage; readonly place: number };

function toHits(pages: readonly Content[], base: URL, query: string, limit: number): Hit[] {
  const passages = pages.flatMap((page, place) =>
    splitPassages(storageToText(page.body.storage.value)).map((passage): PagePassage => ({ page, passage, place })),
  );
  const termsOf = ({ page, passage }: PagePassage) =>
    countTerms(`${page.title}
${toSearchText(passage)}`);
  const ranked = rankPassages(passages, termsOf, query, limit);
  // Confluence knows more forms of a word than we do: if none of ours fit, its own order counts, with the beginning of
  // each page.
  const firsts = passages.filter(
    ({ passage }, at) => passage.start === 0 || passages[at - 1]?.page !== passages[at]?.page,
  );
  const chosen =
    ranked.length > 0 ? ranked : firsts.slice(0, limit).map((item) => ({ item, score: scoreOfPlace(item.place) / 4 }));
  return chosen.map(({ item, score }) => toHit(item, base, score));
}

function toHit({ page, passage }: PagePassage, base: URL, score: number): Hit {
  // Before this version the page said something else: a question about an earlier moment can't be answered from it.
  const since = page.version.when === undefined ? undefined : toUtcTime(page.version.when);
  return {
    content: passage.text,
    locator: toLocator(page, passage, base),
    title: [page.title, ...passage.headings].join(' › '),
    score,
    version: page.version.number,
    series: page.id,
    ...(since === undefined ? {} : { validFrom: since }),
  };
}

/** The page's address with a text fragment, which a browser scrolls to. */
function toLocator(page: Content, { text }: Passage, base: URL): string {
  const root = base.href.replace(/\/$/, '');
  const webui = page._links?.webui;
  const address =
    webui?.startsWith('/') === true ? `${root}${webui}` : `${root}/pages/viewpage.action?pageId=${page.id}`;
  const words = text.replace(/^#+ /, '').trim().split(/\s+/, 8).join(' ').slice(0, 80).toWellFormed();
  return `${address}#:~:text=${encodeURIComponent(words).replaceAll('-', '%2D')}`;
}
