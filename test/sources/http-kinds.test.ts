import { hashedEmbeddings } from '@cleanslate/llm';
import {
  type ConfluencePage,
  type QdrantPoint,
  STAND_IN_FAULTS,
  type StandIn,
  type StandInFault,
  startConfluenceStandIn,
  startQdrantStandIn,
  startStandIn,
  waitFor,
} from '@cleanslate/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { exampleOf } from './guide.ts';
import { openTestSources, type TestSources } from './open-test-sources.ts';

const SECRET = 'canary-of-the-source';
const stack: AsyncDisposable[] = [];
const keep = <T extends AsyncDisposable>(each: T): T => {
  stack.push(each);
  return each;
};
afterEach(async () => {
  for (const each of stack.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

type Opened = {
  readonly standIn: StandIn;
  readonly opened: TestSources;
  readonly name: string;
  readonly params: { readonly [key: string]: string };
};

async function openHttp(more = ''): Promise<Opened> {
  const matches = [
    {
      entity: { id: '9007199254740993', name: 'Acme Ltd' },
      list: 'EU',
      since: '2023-05-01',
      reason: 'fraud',
      similarity: 0.93,
    },
    { entity: { id: '7', name: 'Acme Gold' }, list: 'UN', since: '2022-01-01', reason: 'arms', similarity: 0.41 },
  ];
  const standIn = keep(
    await startStandIn(({ url, headers }) => {
      if (headers.authorization !== `Bearer ${SECRET}`) return { status: 401, json: {} };
      const found = matches.filter(({ entity }) => entity.name.includes(url.searchParams.get('q') ?? ''));
      // Ids as bare numbers, which `JSON.stringify` could not write.
      const text = JSON.stringify({ matches: found }).replaceAll(/"id":"(\d+)"/g, '"id":$1');
      return { json: null, text };
    }),
  );
  const example = exampleOf('http', { 'https://api.sanctions.example': standIn.url });
  const yaml = `${example}    privateHosts: ["${standIn.host}"]\n    timeoutMs: 2000\n${more}`;
  return {
    standIn,
    opened: keep(await openTestSources(yaml, { SANCTIONS_TOKEN: SECRET })),
    name: 'sanctions',
    params: { name: 'Acme' },
  };
}

const TICKETS: readonly [string, string, string, string][] = [
  ['1', 'acme', 'printer', 'Reset the printer by holding its power button for ten seconds.'],
  ['2', 'acme', 'scanner', 'Clean the scanner glass with a dry cloth.'],
  ['3', 'globex', 'printer', 'The printer of globex is reset by its dealer.'],
];
const embeddings = hashedEmbeddings({ dimension: 64 });

async function openQdrant(change: Readonly<Record<string, string>> = {}, server = {}): Promise<Opened> {
  const vectors = await embeddings.embed(TICKETS.map(([, , , answer]) => answer));
  const points = TICKETS.map(([id, tenant, product, answer], at): QdrantPoint => {
    return {
      id: Number(id),
      vector: vectors[at] ?? [],
      payload: { tenant, product, answer, question: `About the ${product}` },
    };
  });
  const standIn = keep(
    await startQdrantStandIn({ collection: 'tickets', dimension: 64, points, apiKey: SECRET, ...server }),
  );
  const yaml = `${exampleOf('qdrant', { 'http://qdrant.search.svc:6333': standIn.url, 'qdrant.search.svc': standIn.host, ...change })}    timeoutMs: 2000\n`;
  return {
    standIn,
    opened: keep(await openTestSources(yaml, { QDRANT_API_KEY: SECRET })),
    name: 'tickets',
    params: { query: 'How do I reset the printer?' },
  };
}

const page = (id: number, more: Partial<ConfluencePage> = {}): ConfluencePage => ({
  id: String(id),
  space: 'HR',
  title: `Page ${id}`,
  version: 1,
  when: '2024-01-01T00:00:00.000Z',
  storage: `<p>Nothing about that, in page ${id}.</p>`,
  ...more,
});
const LEAVE = page(100, {
  title: 'Parental leave',
  version: 7,
  when: '2025-03-01T08:00:00.000+08:00',
  storage:
    '<h1>Scope</h1><p>All employees.</p><h1>Length</h1><p>Parental leave lasts 16&nbsp;weeks, <em>paid</em> in full.</p>',
});

async function openConfluence(
  pages: readonly ConfluencePage[] = [
    page(1),
    LEAVE,
    page(2, { space: 'SECRET', title: 'Parental leave of the board' }),
  ],
): Promise<Opened> {
  const authorization = `Basic ${Buffer.from(`reader@acme.example:${SECRET}`).toString('base64')}`;
  const standIn = keep(await startConfluenceStandIn({ pages, context: '/wiki', authorization }));
  const example = exampleOf('confluence', { 'https://acme.atlassian.net': standIn.url });
  const yaml = `${example}    privateHosts: ["${standIn.host}"]\n    timeoutMs: 2000\n`;
  return {
    standIn,
    opened: keep(await openTestSources(yaml, { CONFLUENCE_API_TOKEN: SECRET })),
    name: 'wiki',
    params: { query: 'How long is parental leave?' },
  };
}

const KINDS = { http: openHttp, qdrant: openQdrant, confluence: openConfluence } as const;
const CODES: Readonly<Record<StandInFault, string>> = {
  silent: 'SOURCE_TIMEOUT',
  stops: 'SOURCE_TIMEOUT',
  cut: 'SOURCE_UNAVAILABLE',
  'rate-limited': 'SOURCE_UNAVAILABLE',
  error: 'SOURCE_UNAVAILABLE',
  forbidden: 'SOURCE_FORBIDDEN',
  'no-json': 'SOURCE_BAD_ANSWER',
  'other-form': 'SOURCE_BAD_ANSWER',
  huge: 'SOURCE_TOO_LARGE',
};

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('a source of kind %s', (kind) => {
  it.each(STAND_IN_FAULTS)(
    'whose server is %s: the named error, nothing of its answer in it, and it answers again afterwards',
    async (fault) => {
      const { standIn, opened, name, params } = await KINDS[kind]();
      standIn.misbehave(fault);
      const error = await opened.ask(name, params).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: CODES[fault], details: { source: name } });
      expect(standIn.requests.length).toBeGreaterThan(0);
      expect(JSON.stringify({ ...error, message: error.message })).not.toMatch(/canary|127\.0\.0\.1/);
      if (fault === 'rate-limited') expect(error.retryAfterMs).toBe(7_000);
      standIn.misbehave(null);
      expect(await opened.ask(name, params)).not.toEqual([]);
    },
  );

  it('is left alone after three failures: nothing more arrives there', async () => {
    const { standIn, opened, name, params } = await KINDS[kind]();
    standIn.misbehave('error');
    for (let n = 0; n < 3; n++) await opened.codeOf(name, params);
    const asked = standIn.requests.length;
    expect(await opened.ask(name, params).catch((error) => error)).toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
      retryAfterMs: expect.any(Number),
    });
    expect(standIn.requests.length).toBe(asked);
  });

  it('is no longer asked once the caller gave up: its server sees the connection go', async () => {
    const { standIn, opened, name, params } = await KINDS[kind]();
    standIn.misbehave('silent');
    const controller = new AbortController();
    const asked = opened.codeOf(name, params, { signal: controller.signal });
    await waitFor('the request', () => standIn.requests.length > 0);
    controller.abort();
    expect(await asked).toBe('CANCELLED');
    await waitFor('the connection to go', () => standIn.abandoned > 0);
  });

  it('says what is wrong with its login, and whether it is there', async () => {
    const { standIn, opened } = await KINDS[kind]();
    expect(await opened.sources.check()).toMatchObject([{ ok: true }]);
    standIn.misbehave(kind === 'http' ? 'cut' : 'forbidden');
    expect(await opened.sources.check()).toMatchObject([
      { ok: false, says: expect.stringMatching(/^SOURCE_(?:FORBIDDEN|UNAVAILABLE): /) },
    ]);
  });
});

describe('HTTP', () => {
  it('maps items by pointer; C25: an id keeps its 19 digits', async () => {
    const { opened } = await openHttp();
    expect(await opened.ask('sanctions', { name: 'Acme' })).toMatchObject([
      {
        content: 'Acme Ltd is on EU since 2023-05-01: fraud',
        locator: 'EU#9007199254740993',
        score: 0.93,
        validFrom: '2023-05-01T00:00:00.000Z',
        accessLevel: 'internal',
      },
      { content: 'Acme Gold is on UN since 2022-01-01: arms', locator: 'UN#7', score: 0.41 },
    ]);
    expect(await opened.ask('sanctions', { name: 'Nobody' })).toEqual([]);
    expect(await opened.ask('sanctions', { name: 'Acme' }, { limit: 1 })).toHaveLength(1);
  });

  it('a value stays one value, whatever it holds', async () => {
    const { opened, standIn } = await openHttp();
    const name = '&q=other#x?/../%2e é 中 {name}';
    await opened.ask('sanctions', { name });
    const asked = standIn.requests.at(-1)?.url;
    expect([asked?.pathname, asked?.searchParams.getAll('q')]).toEqual(['/v1/search', [name]]);
  });

  it('a step of the path can not be given as a value', async () => {
    const standIn = keep(await startStandIn(() => ({ json: { name: 'x', id: 1 } })));
    const yaml = `sources: [{ name: crm, kind: http, title: CRM, url: "${standIn.url}/v1/customers/{id}/terms", privateHosts: ["${standIn.host}"], items: "", params: [{ name: id, description: id }], evidence: { content: "{/name}", locator: "{/id}" } }]`;
    const opened = keep(await openTestSources(yaml));
    for (const id of ['..', '.']) expect(await opened.codeOf('crm', { id })).toBe('INVALID_INPUT');
    await opened.ask('crm', { id: '../../admin' });
    expect(standIn.requests.map(({ url }) => url.pathname)).toEqual(['/v1/customers/..%2F..%2Fadmin/terms']);
  });

  it('sends a body with values of their type', async () => {
    const standIn = keep(await startStandIn(() => ({ json: { hits: [{ t: 'found', id: 1 }] } })));
    const yaml = `sources: [{ name: search, kind: http, title: S, url: "${standIn.url}/search", method: POST, privateHosts: ["${standIn.host}"], items: /hits, body: { q: "about {text}", size: "{size}", tags: ["{tag}", fixed] }, params: [{ name: text, description: t }, { name: size, type: integer, description: s, default: 5 }, { name: tag, description: t, required: false }], evidence: { content: "{/t}", locator: "{/id}" } }]`;
    const opened = keep(await openTestSources(yaml));
    await opened.ask('search', { text: '"} quoted' });
    expect(JSON.parse(standIn.requests[0]?.body ?? '')).toEqual({ q: 'about "} quoted', size: 5, tags: ['fixed'] });
  });

  it('a private host that nobody allowed is not reached, nor is a redirect to one', async () => {
    const standIn = keep(
      await startStandIn(() => ({
        status: 302,
        json: {},
        headers: { location: 'http://169.254.169.254/latest/meta-data/' },
      })),
    );
    const source = (name: string, more: string) =>
      `  - { name: ${name}, kind: http, title: S, url: "${standIn.url}/", items: "", evidence: { content: "{/a}", locator: "{/b}" }${more} }\n`;
    const opened = keep(
      await openTestSources(
        `sources:\n${source('closed', '')}${source('open', `, privateHosts: ["${standIn.host}"]`)}`,
      ),
    );
    expect(await opened.codeOf('closed', {})).toBe('SOURCE_FORBIDDEN');
    expect(standIn.requests).toEqual([]);
    expect(await opened.codeOf('open', {})).toBe('SOURCE_FORBIDDEN');
    expect(standIn.requests).toHaveLength(1);
  });
});

describe('Qdrant', () => {
  it('gives the tenant’s own points, nearest first, filtered by what was asked', async () => {
    const { opened } = await openQdrant();
    const query = 'How do I reset the printer?';
    const found = await opened.ask('tickets', { query });
    expect(found.map(({ locator }) => locator)).toEqual(['tickets/1', 'tickets/2']);
    expect(found[0]).toMatchObject({ content: TICKETS[0]?.[3], title: 'About the printer', source: 'tickets' });
    expect((await opened.ask('tickets', { query, product: 'scanner' })).map(({ locator }) => locator)).toEqual([
      'tickets/2',
    ]);
    expect((await opened.ask('tickets', { query }, { tenant: 'globex' })).map(({ locator }) => locator)).toEqual([
      'tickets/3',
    ]);
  });

  it.each([
    ['C19: vectors of another length', {}, { dimension: 128 }, /holds vectors of 128 numbers, hashed makes 64/],
    ['a collection that is not there', { 'collection: tickets': 'collection: letters' }, {}, /no collection "letters"/],
    ['a vector that has a name', {}, { vector: 'text' }, /has the vectors text: name one/],
  ])('%s: the configuration is at fault, and the message says how', async (_what, change, server, message) => {
    const { opened, params } = await openQdrant(change, server);
    const error = await opened.ask('tickets', params).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'CONFIGURATION', message: expect.stringMatching(message) });
  });

  it('C19: another model than the one that filled it is refused before anything is asked', async () => {
    await expect(openQdrant({ 'embeddingModel: hashed': 'embeddingModel: text-embedding-3-small' })).rejects.toThrow(
      /filled by text-embedding-3-small/,
    );
  });
});

describe('Confluence', () => {
  it('finds the passage in the spaces it may search, as text, with its version and since when it says so', async () => {
    const { opened, standIn } = await openConfluence();
    const [first, ...others] = await opened.ask('wiki', { query: 'How long is parental leave?' });
    expect(first).toMatchObject({
      content: '# Length\n\nParental leave lasts 16 weeks, paid in full.',
      title: 'Parental leave › Length',
      version: 7,
      locator: `${standIn.url}/wiki/spaces/HR/pages/100/Parental%2Bleave#:~:text=Length%20Parental%20leave%20lasts%2016%20weeks%2C%20paid%20in`,
      validFrom: '2025-03-01T00:00:00.000Z',
    });
    expect(JSON.stringify(others)).not.toContain('board');
  });

  it('a question about a moment before the page said so is not answered from it', async () => {
    const { opened } = await openConfluence();
    const at = (validAt: string) => opened.ask('wiki', { query: 'parental leave' }, { pin: { validAt, revision: 1 } });
    expect(await at('2025-02-28T00:00:00.000Z')).toEqual([]);
    expect(await at('2025-03-02T00:00:00.000Z')).not.toEqual([]);
  });

  it('reads as many pages of results as it may, and no page twice', async () => {
    const many = Array.from({ length: 45 }, (_, n) =>
      page(n, { title: `Leave ${n}`, storage: `<p>Leave number ${n}.</p>` }),
    );
    const { opened, standIn } = await openConfluence(many);
    expect(await opened.ask('wiki', { query: 'leave' }, { limit: 50 })).toHaveLength(20);
    expect(standIn.requests).toHaveLength(2);
    expect(standIn.requests.every(({ headers }) => headers.authorization?.startsWith('Basic ') === true)).toBe(true);
  });

  it('a question that speaks CQL is words to it', async () => {
    const { opened, standIn } = await openConfluence();
    await opened.ask('wiki', { query: 'leave") OR space = SECRET OR (text ~ "*' });
    expect(standIn.requests[0]?.url.searchParams.get('cql')).toBe(
      'type = page AND space IN ("HR", "LEGAL") AND (text ~ "leave" OR text ~ "space" OR text ~ "secret" OR text ~ "text")',
    );
    expect(await opened.ask('wiki', { query: '!! ??' })).toEqual([]);
  });
});
