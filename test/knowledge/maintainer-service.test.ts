import { fileURLToPath } from 'node:url';
import { type Bus, callEndpoint, type Publication, Publisher } from '@cleanslate/bus';
import { PASSWORD, startTestBroker, TEST_PRINCIPALS, type TestBroker } from '@cleanslate/bus/testing';
import {
  type Candidate,
  encodeMessage,
  FactImportSet,
  KnowledgePropose,
  KnowledgeSettle,
  principalName,
  subjects,
} from '@cleanslate/contracts';
import { type NatsServer, type Service, startNatsServer, startService } from '@cleanslate/infra';
import { migrate } from '@cleanslate/store';
import { ROLE_PASSWORD } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

const ENTRY = fileURLToPath(new URL('../../services/knowledge-maintainer/src/main.ts', import.meta.url));
const tenantId = 'acme';
const WAIT = { timeout: 45_000, interval: 50 };

let at: KnowledgeDatabase;
let broker: TestBroker<NatsServer>;
let worker: Bus;
let scheduler: Bus;
let tenant: Bus;
let maintainer: Service;
const events: { subject: string; id: string; type: string; data: Record<string, unknown> }[] = [];

beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  await migrate({ adminUrl: at.url, passwords: { cleanslate_maintainer: ROLE_PASSWORD } });
  broker = await startTestBroker(startNatsServer);
  worker = await broker.connect({ kind: 'worker', role: 'analyzer' });
  scheduler = await broker.connect({ kind: 'scheduler' });
  tenant = await broker.connect({ kind: 'tenant', tenantId });
  tenant.subscribe('evt.knowledge.acme.*', (message) => {
    events.push({ subject: message.subject, ...message.json<Omit<(typeof events)[number], 'subject'>>() });
  });
  await tenant.flush();
  maintainer = await startMaintainer();
});
afterAll(async () => {
  await maintainer?.stop();
  await broker?.[Symbol.asyncDispose]();
  await at?.[Symbol.asyncDispose]();
});

async function startMaintainer(): Promise<Service> {
  const url = new URL(at.url);
  url.username = 'cleanslate_maintainer';
  url.password = ROLE_PASSWORD;
  return await startService({
    name: 'knowledge-maintainer',
    entry: ENTRY,
    env: { NATS_URL: broker.server.url, NATS_PASSWORD: PASSWORD, DATABASE_URL: url.href },
  });
}

async function publish(bus: Bus, publication: Publication): Promise<void> {
  await using publisher = new Publisher(bus);
  await publisher.publish(publication);
}

let ids = 0;
async function propose(taskId: string, candidateId: string, value: string): Promise<void> {
  const candidate: Candidate = {
    statement: `Contract ${taskId} is paid within ${value} days.`,
    assertion: {
      subject: `contract ${taskId}`,
      predicate: 'term',
      value,
      unit: 'days',
      polarity: 'positive',
      modality: 'is',
    },
    knowledgeType: 'clause',
    sourceType: 'internal_document',
    sourceRef: `doc:${taskId}`,
    confidence: 0.95,
    importance: 0.8,
    derivedFrom: [],
    tags: [],
  };
  const messageId = `propose-${ids++}`;
  const attributes = {
    id: messageId,
    source: '/services/analyzer',
    time: new Date().toISOString(),
    tenantid: tenantId,
    taskid: taskId,
    stepid: 'analyze',
    attempt: 1,
    claimid: 'won',
    candidateid: candidateId,
  };
  const body = encodeMessage(KnowledgePropose, attributes, candidate);
  await publish(worker, { stream: 'BLACKBOARD', subject: subjects.blackboard(tenantId, taskId), body, messageId });
}

async function settle(taskId: string, candidates: string[]): Promise<void> {
  const messageId = `settle-${ids++}`;
  const attributes = {
    id: messageId,
    source: '/services/scheduler',
    time: new Date().toISOString(),
    tenantid: tenantId,
  };
  const claims = [{ stepId: 'analyze', attempt: 1, claimId: 'won', candidates }];
  const body = encodeMessage(KnowledgeSettle, attributes, { taskId, verdict: 'passed', validatorScore: 1, claims });
  await publish(scheduler, { stream: 'COMMANDS', subject: subjects.settle(tenantId), body, messageId });
}

function settledOf(taskId: string) {
  return events.filter((event) => event.type === 'candidates.settled.v1' && event.data['taskId'] === taskId);
}
function changesOf(taskId: string) {
  return events.filter((event) => event.type === 'fact.changed.v1' && event.data['taskId'] === taskId);
}
async function countRows(sql: string): Promise<number> {
  return (await at.admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${sql}`)).rows[0]?.n ?? -1;
}

describe('knowledge-maintainer', () => {
  it('candidate → waiting → settled → version → event; each repeated three times changes nothing', async () => {
    await propose('t-one', 'c-one', '30');
    await vi.waitFor(async () => expect(await countRows(`knowledge.candidates WHERE state = 'waiting'`)).toBe(1), WAIT);
    await settle('t-one', ['c-one']);
    await vi.waitFor(() => expect(settledOf('t-one')).toHaveLength(1), WAIT);
    expect(settledOf('t-one')[0]?.data).toMatchObject({
      missing: [],
      outcomes: [{ candidateId: 'c-one', outcome: 'accepted', version: 1 }],
    });
    const [change] = changesOf('t-one');
    expect(change).toMatchObject({ subject: `evt.knowledge.acme.${String(change?.data['knowledgeId'])}` });
    expect(JSON.stringify(events)).not.toContain('is paid within');
    for (let again = 0; again < 3; again++) {
      await propose('t-one', 'c-one', '30');
      await settle('t-one', ['c-one']);
      await vi.waitFor(() => expect(settledOf('t-one')).toHaveLength(again + 2), WAIT);
    }
    expect(settledOf('t-one').map((event) => event.data)).toEqual(Array(4).fill(settledOf('t-one')[0]?.data));
    expect(changesOf('t-one')).toHaveLength(1);
    expect(await countRows('knowledge.fact_versions')).toBe(1);
    await vi.waitFor(async () => expect(await countRows('knowledge.outbox')).toBe(0), WAIT);
  });

  it('killed between commit and publish, the next one says it', async () => {
    const jetstream = '$JS.API.STREAM';
    const { config } = (await broker.admin.raw.request(`${jetstream}.INFO.EVENTS`, '', { timeout: 30_000 })).json<{
      config: object;
    }>();
    // Without its stream the event can't be stored, while everything else goes on.
    await broker.admin.raw.request(`${jetstream}.DELETE.EVENTS`, '', { timeout: 30_000 });
    await propose('t-kill', 'c-kill', '45');
    // Else the settlement may overtake its candidate and is then confirmed twice.
    await vi.waitFor(
      async () => expect(await countRows(`knowledge.candidates WHERE task_id = 't-kill'`)).toBe(1),
      WAIT,
    );
    await settle('t-kill', ['c-kill']);
    await vi.waitFor(async () => expect(await countRows('knowledge.outbox')).toBe(2), WAIT);
    await maintainer.kill('SIGKILL');
    await broker.admin.raw.request(`${jetstream}.CREATE.EVENTS`, JSON.stringify(config), { timeout: 30_000 });
    events.length = 0;
    maintainer = await startMaintainer();
    await vi.waitFor(() => expect(settledOf('t-kill')).toHaveLength(1), WAIT);
    expect(changesOf('t-kill')).toMatchObject([{ data: { change: 'accepted', version: 1 } }]);
    await vi.waitFor(async () => expect(await countRows('knowledge.outbox')).toBe(0), WAIT);
    expect(await countRows(`knowledge.fact_versions WHERE task_id = 't-kill'`)).toBe(1);
  });

  it('an import is answered after commit, once for one request id; an overlap names its field', async () => {
    const fact = (periods: [string, string | null, string | null][]) => ({
      knowledgeId: 'policy-a',
      subject: 'contract.payment_term',
      predicate: 'max_days',
      unit: 'days',
      tags: [],
      polarity: 'positive' as const,
      modality: 'must' as const,
      knowledgeType: 'rule' as const,
      periods: periods.map(([value, validFrom, validUntil]) => ({
        value,
        statement: `${value} days`,
        validFrom,
        validUntil,
      })),
    });
    const year = (at: number) => `${at}-01-01T00:00:00.000Z`;
    const call = (facts: ReturnType<typeof fact>[], requestId: string) =>
      callEndpoint(
        tenant,
        FactImportSet,
        tenantId,
        { sourceRef: 'policy:a', sourceType: 'human_confirmed', facts },
        { source: '/tenants/acme/test', requestId },
      );
    const set = [
      fact([
        ['60', year(2022), year(2025)],
        ['30', year(2025), null],
      ]),
    ];
    const first = await call(set, 'import-1');
    expect(first.outcomes).toEqual([{ knowledgeId: 'policy-a', outcome: 'accepted', versions: [1, 2] }]);
    expect(await call(set, 'import-1')).toEqual(first);
    expect((await call(set, 'import-2')).outcomes[0]?.outcome).toBe('duplicate');
    await expect(
      call(
        [
          fact([
            ['1', year(2022), null],
            ['2', year(2023), null],
          ]),
        ],
        'import-3',
      ),
    ).rejects.toMatchObject({
      code: 'FACT_OVERLAP',
      message: expect.stringContaining('facts.0.periods.1'),
    });
    await vi.waitFor(
      () => expect(events.filter((event) => event.subject === 'evt.knowledge.acme.policy-a')).toHaveLength(2),
      WAIT,
    );
  });

  it('what nobody can read becomes one dead letter each, and the rest goes on', async () => {
    const subject = subjects.blackboard(tenantId, 't-poison');
    const bodies = ['{"p":', '', '\xff\xfe', '{"specversion":"1.0"}'];
    for (const [index, text] of bodies.entries())
      await publish(worker, {
        stream: 'BLACKBOARD',
        subject,
        body: Buffer.from(text, 'latin1'),
        messageId: `poison-${index}`,
      });
    await propose('t-poison', 'c-poison', '10');
    await settle('t-poison', ['c-poison']);
    await vi.waitFor(() => expect(settledOf('t-poison').at(-1)?.data['missing']).toEqual([]), WAIT);
    const messages = async (stream: string) =>
      (await broker.admin.raw.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 30_000 })).json<{
        state: { messages: number };
      }>().state.messages;
    await vi.waitFor(async () => expect(await messages('DLQ')).toBe(bodies.length), WAIT);
    await vi.waitFor(async () => expect(await messages('BLACKBOARD')).toBe(0), WAIT);
  });

  it('a burst is committed in few transactions', async () => {
    const tasks = Array.from({ length: 40 }, (_, index) => `t-burst-${index}`);
    await Promise.all(tasks.map((taskId) => propose(taskId, `c-${taskId}`, '7')));
    await Promise.all(tasks.map((taskId) => settle(taskId, [`c-${taskId}`])));
    const written = () => countRows(`knowledge.fact_versions WHERE task_id LIKE 't-burst-%'`);
    await vi.waitFor(async () => expect(await written()).toBe(40), WAIT);
    await vi.waitFor(() => expect(tasks.every((taskId) => settledOf(taskId).length > 0)).toBe(true), WAIT);
    expect(
      await countRows(
        `(SELECT DISTINCT lower(revisions) FROM knowledge.fact_versions WHERE task_id LIKE 't-burst-%') AS r`,
      ),
    ).toBeLessThan(40);
  });

  it('no other credential may say that knowledge changed, nor listen to imports', async () => {
    const others = TEST_PRINCIPALS.filter(({ kind }) => kind !== 'knowledge-maintainer');
    for (const principal of others) {
      const refused: string[] = [];
      const bus = await broker.connect(principal, {
        onStatus: (status) => {
          if (status.type === 'permission-violation') refused.push(`${status.operation} ${status.subject}`);
        },
      });
      bus.publish('evt.knowledge.acme.policy-a', Buffer.from('{}'));
      bus.subscribe('ctl.acme.fact.import', () => undefined);
      await bus.flush();
      await vi.waitFor(() => {
        expect([principalName(principal), ...refused.slice(0, 2).sort()]).toEqual([
          principalName(principal),
          'publish evt.knowledge.acme.policy-a',
          'subscription ctl.acme.fact.import',
        ]);
      }, WAIT);
      await bus.close(100);
    }
  });

  it('stops in good order on SIGTERM', async () => {
    expect(await maintainer.stop(60_000)).toMatchObject({ code: 0 });
  });
});
