import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Publisher } from '@cleanslate/bus';
import { PASSWORD, startTestBroker } from '@cleanslate/bus/testing';
import { type Candidate, encodeMessage, KnowledgePropose, subjects } from '@cleanslate/contracts';
import { startNatsServer, startPostgres, startService } from '@cleanslate/infra';
import { migrate, openDatabase } from '@cleanslate/store';
import { expect, it, vi } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../services/knowledge-maintainer/src/main.ts', import.meta.url));
const WAIT = { timeout: 90_000, interval: 100 };

const said: Candidate = {
  statement: 'The term is 30 days.',
  assertion: null,
  knowledgeType: 'clause',
  sourceType: 'internal_document',
  sourceRef: 'doc:1',
  confidence: 0.9,
  importance: 0.5,
  derivedFrom: [],
  tags: [],
};

it('while the database is away nothing is lost, nothing is given up on, and the process stays', {
  timeout: 240_000,
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'knowledge-outage-'));
  // Disposed of last: the server still writes its log while it stops.
  await using _folder = { [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
  await using postgres = await startPostgres({ dir, durable: false });
  await migrate({ adminUrl: postgres.adminUrl, passwords: { cleanslate_maintainer: 'maintainer-password' } });
  await using broker = await startTestBroker(startNatsServer);
  const url = postgres.url({ user: 'cleanslate_maintainer', password: 'maintainer-password' });
  await using maintainer = await startService({
    name: 'knowledge-maintainer',
    entry: ENTRY,
    env: { NATS_URL: broker.server.url, NATS_PASSWORD: PASSWORD, DATABASE_URL: url },
  });
  const { pid } = maintainer;
  await postgres.stop();

  const worker = await broker.connect({ kind: 'worker', role: 'analyzer' });
  const publisher = new Publisher(worker);
  const ids = Array.from({ length: 20 }, (_, index) => `c-${index}`);
  for (const candidateid of ids) {
    const attributes = {
      id: candidateid,
      source: '/services/analyzer',
      time: new Date().toISOString(),
      tenantid: 'acme',
      taskid: 't',
      stepid: 'analyze',
      attempt: 1,
      claimid: 'won',
      candidateid,
    };
    const body = encodeMessage(KnowledgePropose, attributes, said);
    await publisher.publish({
      stream: 'BLACKBOARD',
      subject: subjects.blackboard('acme', 't'),
      body,
      messageId: candidateid,
    });
  }
  publisher.close();
  await vi.waitFor(async () => expect((await fetch(`${maintainer.healthUrl}/readyz`)).status).toBe(503), WAIT);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await postgres.restart();

  await using database = openDatabase({ url: postgres.adminUrl, applicationName: 'test' });
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query('SELECT count(*)::int AS n FROM knowledge.candidates');
    expect(rows).toEqual([{ n: ids.length }]);
  }, WAIT);
  await vi.waitFor(async () => expect((await fetch(`${maintainer.healthUrl}/readyz`)).status).toBe(200), WAIT);
  const info = await broker.admin.raw.request('$JS.API.STREAM.INFO.DLQ', '', { timeout: 30_000 });
  expect(info.json<{ state: { messages: number } }>().state.messages).toBe(0);
  expect([maintainer.pid, maintainer.exit]).toEqual([pid, undefined]);
});
