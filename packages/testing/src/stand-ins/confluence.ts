import { type StandIn, type StandInAnswer, type StandInRequest, startStandIn } from './stand-in.ts';

export type ConfluencePage = {
  readonly id: string;
  readonly space: string;
  readonly title: string;
  /** Storage format. */
  readonly storage: string;
  readonly version: number;
  /** ISO time of that version. */
  readonly when: string;
  readonly labels?: readonly string[];
};
export type ConfluenceOptions = {
  readonly pages: readonly ConfluencePage[];
  /** `/wiki` on Cloud, often nothing on Data Center. */
  readonly context: string;
  /** The authorization header that it wants. */
  readonly authorization?: string;
};

/** With bodies expanded Confluence gives at most so many at once. */
const MOST_WITH_BODY = 50;

/**
 * What a source needs of Confluence: `GET {context}/rest/api/search` with CQL (type, space, label, `text ~`), expansion
 * of body and version, and pages by cursor, in the form of Confluence Cloud. `text ~` finds whole words of title and
 * body, whatever their case; its query language is refused, so that a question that reaches it is seen.
 */
export function startConfluenceStandIn(options: ConfluenceOptions): Promise<StandIn> {
  return startStandIn((request) => answer(options, request));
}

function answer(
  { pages, context, authorization }: ConfluenceOptions,
  { url, headers, method }: StandInRequest,
): StandInAnswer {
  if (authorization !== undefined && headers.authorization !== authorization)
    return fail(401, 'Unauthorized; scope does not match');
  if (method !== 'GET' || url.pathname !== `${context}/rest/api/search`) return fail(404, 'null for uri');
  const cql = url.searchParams.get('cql') ?? '';
  const matches = parseCql(cql);
  if (matches === undefined) return fail(400, `Could not parse cql : ${cql}`);
  const expand = (url.searchParams.get('expand') ?? '').split(',');
  const withBody = expand.includes('content.body.storage');
  const limit = Math.min(Number(url.searchParams.get('limit') ?? 25), withBody ? MOST_WITH_BODY : 1_000);
  const start = Number(url.searchParams.get('cursor') ?? 0);
  const found = pages.filter(matches);
  const shown = found.slice(start, start + limit);
  const more = start + shown.length < found.length;
  const next = new URLSearchParams({
    next: 'true',
    cursor: String(start + limit),
    cql,
    limit: String(limit),
    expand: expand.join(','),
  });
  return {
    json: {
      results: shown.map((page) => toResult(page, expand)),
      start,
      limit,
      size: shown.length,
      totalSize: found.length,
      cqlQuery: cql,
      searchDuration: 12,
      _links: {
        base: `http://stand-in${context}`,
        context,
        self: url.href,
        ...(more ? { next: `/rest/api/search?${next}` } : {}),
      },
    },
  };
}

function toResult(page: ConfluencePage, expand: readonly string[]) {
  const { id, title, space, storage, version, when } = page;
  const webui = `/spaces/${space}/pages/${id}/${encodeURIComponent(title.replaceAll(' ', '+'))}`;
  return {
    content: {
      id,
      type: 'page',
      status: 'current',
      title,
      ...(expand.includes('content.body.storage')
        ? { body: { storage: { value: storage, representation: 'storage' } } }
        : {}),
      ...(expand.includes('content.version') ? { version: { number: version, when, minorEdit: false } } : {}),
      _links: { webui, self: `http://stand-in/rest/api/content/${id}` },
    },
    title,
    excerpt: '',
    url: webui,
    entityType: 'content',
    lastModified: when,
    friendlyLastModified: 'recently',
    score: 0,
  };
}

type Matcher = (page: ConfluencePage) => boolean;
const STRING = '"((?:[^"\\\\]|\\\\.)*)"';

/** `a AND b AND (c OR d)` over the fields that are needed here; undefined for anything else. */
function parseCql(cql: string): Matcher | undefined {
  const parts = cql.split(/ AND (?=(?:[^"]*"(?:[^"\\]|\\.)*")*[^"]*$)/);
  const matchers = parts.map(parseCondition);
  if (matchers.some((matcher) => matcher === undefined)) return undefined;
  return (page) => matchers.every((matcher) => matcher?.(page) === true);
}

function parseCondition(text: string): Matcher | undefined {
  if (text === 'type = page') return () => true;
  const list = new RegExp(`^(space|label) IN \\((${STRING}(?:, ${STRING})*)\\)$`).exec(text);
  if (list !== null) {
    const values = readStrings(text);
    return list[1] === 'space'
      ? ({ space }) => values.includes(space)
      : ({ labels = [] }) => labels.some((label) => values.includes(label));
  }
  if (!new RegExp(`^\\(text ~ ${STRING}(?: OR text ~ ${STRING})*\\)$`).test(text)) return undefined;
  const words = readStrings(text);
  if (words.some((word) => !/^[\p{L}\p{N}]+$/u.test(word))) return undefined;
  return ({ title, storage }) => {
    const said = new Set(`${title} ${storage.replaceAll(/<[^>]*>/g, ' ')}`.toLowerCase().match(/[\p{L}\p{N}]+/gu));
    return words.some((word) => said.has(word.toLowerCase()));
  };
}

function readStrings(text: string): string[] {
  return [...text.matchAll(new RegExp(STRING, 'g'))].map(([, inner = '']) => inner.replaceAll(/\\(.)/g, '$1'));
}

function fail(statusCode: number, message: string): StandInAnswer {
  return {
    status: statusCode,
    json: { statusCode, data: { authorized: statusCode !== 401, valid: false, errors: [] }, message },
  };
}
