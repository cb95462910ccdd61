import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddings, type EmbeddingProvider, hashedEmbeddings, toUnitVector } from '../index.ts';

const likeness = (a: Float32Array | null | undefined, b: Float32Array | null | undefined) =>
  a && b ? a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) : Number.NaN;
async function alike(a: string, b: string): Promise<number> {
  const [left, right] = await hashedEmbeddings().embed([a, b]);
  return likeness(left, right);
}

describe('packaged embeddings', () => {
  it('are unit vectors of their space, the same each time; a text without words has none', async () => {
    const embeddings = hashedEmbeddings({ dimension: 256 });
    expect(embeddings.space.id).toBe('hashed/256/words+grams-1');
    const [first, again, empty] = await embeddings.embed(['Payment within 30 days', 'Payment within 30 days', ' … ']);
    expect(first).toEqual(again);
    expect(first).toHaveLength(256);
    expect(likeness(first, first)).toBeCloseTo(1);
    expect(empty).toBeNull();
  });

  it.each([
    ['inflections', 'the supplier delivers goods', 'goods delivered by suppliers', 'the moon is bright tonight'],
    ['a misspelling', 'termination notice', 'termnation notice', 'liability insurance'],
    ['Chinese', '付款期限为三十日', '三十日内付款的期限', '货物的检验标准'],
  ])('are nearer for %s than for something else', async (_name, text, near, far) => {
    expect(await alike(text, near)).toBeGreaterThan((await alike(text, far)) + 0.15);
  });

  it('take a megabyte without a word boundary in a moment', async () => {
    // No clock: a rule that is quadratic would run into the test's own time-out.
    await hashedEmbeddings().embed(['a'.repeat(1_000_000), '合'.repeat(300_000)]);
  });
});

it('vectors that are too short, hold no number, or are zero are none', () => {
  expect(toUnitVector([3, 4], 2)).toEqual(new Float32Array([0.6, 0.8]));
  for (const values of [[1], [1, 2, 3], [0, 0], [Number.NaN, 1], [Number.POSITIVE_INFINITY, 1], [null, 1], ['1', 1]])
    expect(toUnitVector(values, 2)).toBeNull();
});

describe('an OpenAI-compatible server', () => {
  let server: Server;
  let answer: (body: { model: string; input: string[]; encoding_format: string }) => { status?: number; json: unknown };
  let asked: { authorization: string | undefined; path: string | undefined }[] = [];
  let embeddings: EmbeddingProvider;
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        asked.push({ authorization: request.headers.authorization, path: request.url });
        const { status = 200, json } = answer(JSON.parse(text));
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    embeddings = await createEmbeddings({
      EMBEDDING_MODEL: 'small',
      EMBEDDING_DIMENSION: 2,
      EMBEDDING_API_KEY: 'canary-key',
      EMBEDDING_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const vectors = (...list: unknown[]) => ({
    object: 'list',
    model: 'small',
    data: list,
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });

  it('is asked for plain numbers, and its vectors are taken by index, each checked', async () => {
    answer = ({ input, encoding_format }) => {
      expect([input, encoding_format]).toEqual([['a', 'b', 'c'], 'float']);
      return {
        json: vectors({ index: 2, embedding: [0, 0] }, { index: 1, embedding: [0, 5] }, { index: 0, embedding: [1] }),
      };
    };
    expect(await embeddings.embed(['a', 'b', 'c'])).toEqual([null, new Float32Array([0, 1]), null]);
    expect(asked).toEqual([{ authorization: 'Bearer canary-key', path: '/v1/embeddings' }]);
  });

  it.each([
    ['an object', {}],
    ['a page', '<html></html>'],
  ])(
    'that answers with %s in place of vectors is asked again: none of its texts stays without one',
    async (_, json) => {
      answer = () => ({ json });
      await expect(embeddings.embed(['a'])).rejects.toMatchObject({
        code: 'EMBEDDINGS_UNAVAILABLE',
        disposition: 'retryable',
      });
    },
  );

  it.each([
    [307, 'CONFIGURATION', 'terminal'],
    [401, 'CONFIGURATION', 'terminal'],
    [404, 'CONFIGURATION', 'terminal'],
    [429, 'EMBEDDINGS_UNAVAILABLE', 'retryable'],
    [503, 'EMBEDDINGS_UNAVAILABLE', 'retryable'],
    [400, 'EMBEDDINGS_UNAVAILABLE', 'terminal'],
    [413, 'EMBEDDINGS_UNAVAILABLE', 'terminal'],
    [422, 'EMBEDDINGS_UNAVAILABLE', 'terminal'],
  ])('that says %i is %s, and the error holds neither key nor text', async (status, code, disposition) => {
    answer = () => ({ status, json: { error: { message: 'about secret-text and canary-key' } } });
    const error: Error = await embeddings.embed(['secret-text']).then(
      () => new Error('none'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code, disposition });
    expect(JSON.stringify({ ...error, message: error.message })).not.toMatch(/canary-key|secret-text/);
  });

  it('a model without a server is a fault of the configuration', async () => {
    await expect(createEmbeddings({ EMBEDDING_MODEL: 'small', EMBEDDING_DIMENSION: 2 })).rejects.toMatchObject({
      code: 'CONFIGURATION',
    });
  });
});
