import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { AppError, type ErrorCode, type FactImport } from '@cleanslate/contracts';
import { type EmbeddingProvider, hashedEmbeddings } from '@cleanslate/llm';
import { countPendingVectors, findSpaces, getLastRevision, withTransaction } from '@cleanslate/store';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { run } from '../../packages/cli/src/run.ts';
import { Embedder } from '../../services/knowledge-maintainer/src/embedder.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { aFact } from '../fixtures/facts.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

const hashed = hashedEmbeddings();
const REFUSED = 'zebra-canary';
const refusal = () =>
  new AppError('EMBEDDINGS_UNAVAILABLE', 'embeddings: status 400 from the server', { disposition: 'terminal' });

let at: KnowledgeDatabase;
let embedder: Embedder;
let errors: unknown[];
/** What the server says to a request; by itself it refuses one text. */
let check: (texts: readonly string[]) => void;

beforeEach(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  errors = [];
  check = (texts) => {
    if (texts.some((text) => text.includes(REFUSED))) throw refusal();
  };
  const embeddings: EmbeddingProvider = {
    ...hashed,
    embed: async (texts) => {
      check(texts);
      return await hashed.embed(texts);
    },
  };
  embedder = new Embedder({
    database: at.database,
    embeddings,
    sweepMs: 60_000,
    onError: (error) => errors.push(error),
  });
  await embedder.open();
  await embedder.settled();
});
afterEach(async () => {
  await embedder.stop();
  await at[Symbol.asyncDispose]();
});

async function write(tenantId: string, ...facts: FactImport[]): Promise<void> {
  const data = { sourceRef: 'handbook', sourceType: 'internal_document' as const, facts };
  await importFacts(at.database, { tenantId, requestId: facts.map((one) => one.knowledgeId).join(), data });
}
async function embed(): Promise<void> {
  embedder.poke();
  await embedder.settled();
}
async function findVectors(): Promise<string[]> {
  const { rows } = await at.admin.query<{ id: string }>(
    'SELECT v.knowledge_id AS id FROM knowledge.fact_embeddings JOIN knowledge.fact_versions v USING (fact_seq) ORDER BY v.fact_seq',
  );
  return rows.map(({ id }) => id);
}
async function countPending(tenantId: string): Promise<number> {
  const scope = { role: 'cleanslate_retriever', tenantId, readOnly: true } as const;
  return await withTransaction(at.database, scope, async (tx) =>
    countPendingVectors(tx, hashed.space.id, await getLastRevision(tx)),
  );
}

describe('a statement that the embedding server refuses', () => {
  it('goes without a vector, and holds up no fact behind it, nor another tenant', async () => {
    await write('acme', aFact('first', 'Otters sleep afloat.'), aFact('odd', `A ${REFUSED} grazes.`));
    await write('other', aFact('behind', 'Beavers fell trees.'));
    await embed();
    expect(await findVectors()).toEqual(['first', 'behind']);
    expect([await countPending('acme'), await countPending('other')]).toEqual([0, 0]);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/"odd@1".*"acme".*status 400/) }),
    ]);
    expect(String(errors[0])).not.toContain(REFUSED);
    // Later facts go in one request again.
    const asked: number[] = [];
    check = (texts) => asked.push(texts.length);
    await write('acme', aFact('later', 'Herons wade.'), aFact('last', 'Storks clatter.'));
    await embed();
    expect(asked).toEqual([2]);
  });

  it('is stepped over where it is the only one', async () => {
    await write('acme', aFact('odd', `A ${REFUSED} grazes.`));
    await embed();
    expect(await countPending('acme')).toBe(0);
    expect(errors).toHaveLength(1);
  });

  it('is not the reason where the server fails while they are asked for one at a time: what follows waits for it', async () => {
    await write('acme', aFact('first', 'Otters sleep afloat.'), aFact('odd', `A ${REFUSED} grazes.`));
    await write('other', aFact('behind', 'Beavers fell trees.'));
    const refuse = check;
    check = (texts) => {
      refuse(texts);
      if (texts.join() === 'Beavers fell trees.') throw new AppError('EMBEDDINGS_UNAVAILABLE', 'away');
    };
    await embed();
    expect(await findVectors()).toEqual(['first']);
    expect([await countPending('acme'), await countPending('other')]).toEqual([0, 1]);
    expect(errors).toMatchObject([{ disposition: 'terminal' }, { message: 'away' }]);
    check = refuse;
    await embed();
    expect(await findVectors()).toEqual(['first', 'behind']);
    expect(errors).toHaveLength(2);
  });
});

describe('a server that takes no text at all', () => {
  const faults: [string, ErrorCode, object][] = [
    ['is away', 'EMBEDDINGS_UNAVAILABLE', {}],
    ['refuses each request', 'EMBEDDINGS_UNAVAILABLE', { disposition: 'terminal' }],
    ['refuses the key', 'CONFIGURATION', {}],
  ];
  it.each(faults)('and %s costs no fact its vector', async (_name, code, options) => {
    check = () => {
      throw new AppError(code, 'no', options);
    };
    await write('acme', aFact('first', 'Otters sleep afloat.'), aFact('second', 'Beavers fell trees.'));
    await embed();
    expect(await countPending('acme')).toBe(2);
    expect(errors).toMatchObject([{ code, message: 'no' }]);
    check = () => undefined;
    await embed();
    expect(await findVectors()).toEqual(['first', 'second']);
    expect(await countPending('acme')).toBe(0);
  });
});

describe('a move to a model whose server refuses a statement', () => {
  /** `slate fact reembed` to the model of a server that answers as `check` says. */
  async function move(...options: string[]) {
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const { input } = (await json(request)) as { input: string[] };
      try {
        check(input);
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 1, 1, 1, 1, 1, 1, 1] })) }),
        );
      } catch {
        response.writeHead(400).end();
      }
    };
    const server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    let stdout = '';
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const code = await run(['fact', 'reembed', '--model', 'small', '--dimension', '8', '--url', url, ...options], {
        env: { DATABASE_URL: at.url, CLEANSLATE_HOME: '/nonexistent', NO_COLOR: '1' },
        stdout: { write: (text) => (stdout += text) },
        stderr: { write: () => true },
        signal: new AbortController().signal,
      });
      return { code, stdout };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
  const findMoved = async () => {
    const scope = { role: 'cleanslate_maintainer', readOnly: true } as const;
    const [active] = await withTransaction(at.database, scope, findSpaces);
    const { rows } = await at.admin.query<{ id: string }>(
      'SELECT v.knowledge_id AS id FROM knowledge.fact_embeddings JOIN knowledge.fact_versions v USING (fact_seq) WHERE space = $1 ORDER BY v.fact_seq',
      [active?.space],
    );
    return { model: active?.model, facts: rows.map(({ id }) => id) };
  };

  it('goes on with the others, says at its end which were refused, and fails', async () => {
    const middle = Array.from({ length: 9 }, (_, n) => aFact(`middle-${n}`, `Otter ${n} sleeps afloat.`));
    await write('acme', aFact('odd', `A ${REFUSED} grazes.`), ...middle, aFact('odder', `Two of the ${REFUSED}.`));
    await write('other', aFact('behind', 'Beavers fell trees.'));
    const { code, stdout } = await move();
    expect(code).toBe(1);
    expect(stdout).toMatch(/kept in small.*\(10 embedded, 0 without a vector\)/);
    expect(stdout).toMatch(/refused: odd@1 of tenant "acme".*status 400/);
    expect(stdout).toMatch(/refused: odder@1 /);
    expect(await findMoved()).toEqual({ model: 'small', facts: [...middle.map((one) => one.knowledgeId), 'behind'] });
    // Repeated, it tries again what it was refused, and nothing else.
    check = () => undefined;
    const again = await move('--json');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { embedded: 2, refused: [] }]);
  });

  it('moves nothing where it refuses any text', async () => {
    check = () => {
      throw refusal();
    };
    await write('acme', aFact('first', 'Otters sleep afloat.'));
    expect((await move()).code).toBe(2);
    expect(await findMoved()).toMatchObject({ model: 'hashed' });
  });
});
