import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { Candidate } from '@cleanslate/contracts';
import { DEFAULT_SCREEN } from '@cleanslate/domain';
import { hashedEmbeddings } from '@cleanslate/llm';
import {
  addSpace,
  buildVectorIndex,
  findFactAt,
  findUnembedded,
  getLastRevision,
  insertEmbeddings,
  type NewCandidate,
  searchFacts,
  type TaskSettlement,
  withTransaction,
} from '@cleanslate/store';
import { expect, inject, it } from 'vitest';
import { settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

// `npm run bench:knowledge [-- --facts 20000 --versions 200000 --json]` (SPEED=1); the figures are printed,
// and noted in bench/README.md.
const FACTS = Number(process.env['FACTS'] ?? '100000');
/** Versions in all, most of them past: lookups are measured among so many. */
const VERSIONS = Number(process.env['VERSIONS'] ?? String(3 * FACTS));
const LOOKUPS = 2_000;
/** Revisions up to here are the past that is made up. */
const BEFORE = 1_000;

type Figure = { readonly what: string; readonly value: string; readonly floor: string };
const figures: Figure[] = [];
const SMALL_TENANT_SHARE = 100;
const SUBJECTS = [
  'supplier',
  'customer',
  'lessee',
  'carrier',
  'insurer',
  'employer',
  'licensee',
  'bank',
  '买方',
  '承租人',
];
const TOPICS = [
  'payment term',
  'notice period',
  'liability cap',
  'late fee',
  'warranty',
  'delivery date',
  'deposit',
  'audit right',
  '违约金',
  '保修期',
];

let seed = 7;
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}
const word = () => Array.from({ length: 4 + random(5) }, () => String.fromCharCode(97 + random(26))).join('');
const vocabulary = Array.from({ length: 5_000 }, word);

function candidate(index: number): NewCandidate {
  const subject = `${SUBJECTS[random(10)]} ${index}`;
  const predicate = TOPICS[random(10)] ?? '';
  const value = String(1 + random(365));
  const filler = Array.from({ length: 8 }, () => vocabulary[Math.floor(5_000 * (random(1_000) / 1_000) ** 2)]).join(
    ' ',
  );
  const said: Candidate = {
    statement: `The ${predicate} of ${subject} is ${value} days under ${filler}.`,
    assertion: { subject, predicate, value, unit: 'days', polarity: 'positive', modality: 'is' },
    knowledgeType: 'clause',
    sourceType: 'internal_document',
    sourceRef: `doc:${index % 997}`,
    confidence: 0.95,
    importance: 0.8,
    derivedFrom: [],
    tags: [],
  };
  const tenantId = index % SMALL_TENANT_SHARE === 0 ? 'small' : 'acme';
  return {
    tenantId,
    taskId: `t-${Math.floor(index / 500)}`,
    candidateId: `c-${index}`,
    messageId: `m-${index}`,
    stepId: 's',
    attempt: 1,
    claimId: 'c',
    epoch: 1,
    body: said,
    saidAt: new Date(Date.now() - random(10 * 365) * 86_400_000).toISOString(),
  };
}

function percentiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} ms`;
}

/** Processor seconds that this database's sessions have used: what a crowded machine can't stretch. */
async function databaseCpu(at: KnowledgeDatabase): Promise<number> {
  const { rows } = await at.admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`,
  );
  const TICKS_PER_SECOND = 100;
  return rows.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }, 0);
}

async function load(at: KnowledgeDatabase): Promise<void> {
  let tookMs = 0;
  const before = { database: await databaseCpu(at), node: process.cpuUsage() };
  for (let from = 0; from < FACTS; from += 500) {
    const candidates = Array.from({ length: Math.min(500, FACTS - from) }, (_, index) => candidate(from + index));
    const settlements = ['acme', 'small'].map((tenantId): TaskSettlement => {
      const own = candidates.filter((item) => item.tenantId === tenantId).map((item) => item.candidateId);
      const claims = [{ stepId: 's', attempt: 1, claimId: 'c', candidates: own }];
      return {
        tenantId,
        taskId: candidates[0]?.taskId ?? '',
        verdict: 'passed',
        validatorScore: 1,
        claims,
        messageId: `s-${from}-${tenantId}`,
      };
    });
    const started = performance.now();
    const { outcomes } = await settleBatch(at.database, { candidates, settlements }, DEFAULT_SCREEN);
    tookMs += performance.now() - started;
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(candidates.length);
    if ((from / 500) % 20 === 19)
      console.log(`${from + 500} facts: ${Math.round(((from + 500) / tookMs) * 1_000)} facts/s`);
  }
  const node = process.cpuUsage(before.node);
  const ms = {
    node: (node.user + node.system) / 1_000 / FACTS,
    database: (((await databaseCpu(at)) - before.database) * 1_000) / FACTS,
  };
  figures.push({
    what: `accept, batches of 500`,
    value: `${Math.round((FACTS / tookMs) * 1_000)} facts/s; processor ms a fact: node ${ms.node.toFixed(3)}, database ${ms.database.toFixed(3)}`,
    floor: await measureInsertFloor(at),
  });
}

/**
 * The same rows, with their terms, in batches of 500 into bare tables: what PostgreSQL takes for storing them alone.
 */
async function measureInsertFloor(at: KnowledgeDatabase): Promise<string> {
  const { admin } = at;
  await admin.query(
    'CREATE TABLE floor_versions (LIKE knowledge.fact_versions); CREATE TABLE floor_lexemes (LIKE knowledge.fact_lexemes)',
  );
  const rows = Math.min(FACTS, 20_000);
  const before = await databaseCpu(at);
  const started = performance.now();
  for (let from = 0; from < rows; from += 500) {
    const range = `fact_seq > (SELECT min(fact_seq) FROM knowledge.fact_versions) + ${from - 1} AND fact_seq < (SELECT min(fact_seq) FROM knowledge.fact_versions) + ${from + 500}`;
    await admin.query(
      `WITH v AS (INSERT INTO floor_versions SELECT * FROM knowledge.fact_versions WHERE ${range})
       INSERT INTO floor_lexemes SELECT * FROM knowledge.fact_lexemes WHERE ${range}`,
    );
  }
  const rate = Math.round((rows / (performance.now() - started)) * 1_000);
  const cpu = (((await databaseCpu(at)) - before) * 1_000) / rows;
  await admin.query('DROP TABLE floor_versions, floor_lexemes');
  return `${rate} rows/s; database ${cpu.toFixed(3)}`;
}

/** Facts get a past: so many closed versions, each believed for one of the revisions before the head's. */
async function addPast(at: KnowledgeDatabase): Promise<void> {
  const past = VERSIONS - FACTS;
  // In portions that a query may take.
  const PORTION = 5_000;
  const { rows: seqs } = await at.admin.query<{ seq: number }>(
    `SELECT fact_seq AS seq FROM knowledge.fact_versions WHERE version = 1 ORDER BY fact_seq`,
  );
  for (let made = 0; made < past; made += PORTION) {
    const nth = 1 + Math.floor(made / FACTS);
    const from = made % FACTS;
    const wanted = seqs.slice(from, from + Math.min(PORTION, past - made)).map(({ seq }) => seq);
    const client = await at.admin.connect();
    try {
      await client.query('BEGIN');
      // Closed ranges never overlap: the checks that they don't, and that nothing else
      // changes, aren't what is measured.
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `INSERT INTO knowledge.fact_versions OVERRIDING SYSTEM VALUE
         SELECT (json_populate_record(s.v, json_build_object('fact_seq', nextval('knowledge.fact_versions_fact_seq_seq'), 'version', 1 + $1::int,
           'revisions', int8range($3 - $1::int8, $3 + 1 - $1::int8), 'revision_from', $3 - $1::int8, 'revision_until', $3 + 1 - $1::int8))).*
         FROM (SELECT f AS v FROM knowledge.fact_versions f WHERE fact_seq = ANY ($2::int8[])) s`,
        [nth, wanted, BEFORE],
      );
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  }
}

/** Latencies of one lookup after the other, and of the bare row by its unique index. */
async function measureLookups(at: KnowledgeDatabase): Promise<void> {
  const read = <T>(work: Parameters<typeof withTransaction<T>>[2]) =>
    withTransaction(at.database, { role: 'cleanslate_gateway', tenantId: 'acme', readOnly: true }, work);
  const { rows: names } = await at.admin.query<{ id: string }>(
    `SELECT knowledge_id AS id FROM knowledge.fact_versions WHERE tenant_id = 'acme' AND upper_inf(revisions) ORDER BY random() LIMIT ${LOOKUPS}`,
  );
  const validAt = new Date().toISOString();
  const head = await read(getLastRevision);
  const floor: number[] = [];
  for (const { id } of names) {
    const begun = performance.now();
    await at.admin.query({
      name: 'floor',
      text: `SELECT * FROM knowledge.fact_versions WHERE tenant_id = 'acme' AND knowledge_id = $1 AND version = 1`,
      values: [id],
    });
    floor.push(performance.now() - begun);
  }
  for (const [what, revision] of [
    ['lookup at the head', head],
    ['lookup at a past pin', BEFORE - 1],
  ] as const) {
    const times: number[] = [];
    let found = 0;
    for (const { id } of names) {
      const begun = performance.now();
      if (await read((tx) => findFactAt(tx, 'acme', { validAt, revision }, id))) found++;
      times.push(performance.now() - begun);
    }
    expect(found).toBeGreaterThan(revision === head || VERSIONS >= 2 * FACTS ? names.length / 2 : -1);
    figures.push({ what: `${what}, ${VERSIONS} versions`, value: percentiles(times), floor: percentiles(floor) });
  }
}

it('figures', { timeout: 3_000_000 }, async () => {
  await using at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  await at.admin.query(`INSERT INTO knowledge.revisions VALUES (${BEFORE}, now() - interval '10 years')`);
  await load(at);
  const embeddings = hashedEmbeddings();
  const { id, ...space } = embeddings.space;
  await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) => addSpace(tx, { space: id, ...space }));
  const started = performance.now();
  for (let after = 0; ; ) {
    const found = await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) =>
      findUnembedded(tx, id, after, 1_000),
    );
    const last = found.at(-1);
    if (last === undefined) break;
    after = last.factSeq;
    const vectors = await embeddings.embed(found.map(({ statement }) => statement));
    const usable = found.flatMap((item, index) => (vectors[index] ? [{ ...item, vector: vectors[index] }] : []));
    await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) => insertEmbeddings(tx, id, usable));
  }
  console.log(`embedded: ${Math.round(FACTS / ((performance.now() - started) / 1_000))} facts/s`);
  const indexing = performance.now();
  expect(await buildVectorIndex(at.database, id)).toBe(true);
  console.log(`vector index: ${Math.round((performance.now() - indexing) / 1_000)} s`);
  expect(await buildVectorIndex(at.database, id)).toBe(false);
  const read = <T>(tenantId: string, work: Parameters<typeof withTransaction<T>>[2]) =>
    withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, work);
  const revision = await read('acme', getLastRevision);
  const pin = { validAt: new Date().toISOString(), revision };
  for (const [tenantId, pinned] of [
    ['small', false],
    ['acme', false],
    ['acme', true],
  ] as const) {
    const times: number[] = [];
    let searches = 0;
    const usedBefore = await databaseCpu(at);
    let recalled = 0;
    let wanted = 0;
    for (let round = 0; round < 150; round++) {
      const query = `${TOPICS[random(10)]} of ${SUBJECTS[random(10)]} ${random(FACTS)} ${vocabulary[random(5_000)]} ${vocabulary[random(5_000)]}`;
      const [values] = await embeddings.embed([query]);
      if (!values) continue;
      const ask = (exact: boolean) => {
        searches++;
        return read(tenantId, (tx) =>
          searchFacts(tx, tenantId, {
            query,
            pin,
            pinned: exact,
            filter: {},
            limit: 10,
            vector: { space: id, values, rankWeight: embeddings.rankWeight },
          }),
        );
      };
      const begun = performance.now();
      const hits = await ask(pinned);
      times.push(performance.now() - begun);
      if (pinned || round % 5 !== 0) continue;
      const exact = new Set((await ask(true)).map(({ fact }) => fact.knowledgeId));
      wanted += exact.size;
      recalled += hits.filter(({ fact }) => exact.has(fact.knowledgeId)).length;
    }
    const cpuMs = (((await databaseCpu(at)) - usedBefore) * 1_000) / searches;
    figures.push({
      what: `search as the tenant of ${tenantId === 'small' ? '1 %' : '99 %'}${pinned ? ', pinned' : ''}`,
      value: `${percentiles(times)}${pinned ? '' : `, recall@10 of exact ${(recalled / wanted).toFixed(3)}`}, database ${cpuMs.toFixed(1)} ms each`,
      floor: pinned ? '' : await measureVectorFloor(at, tenantId, id),
    });
    if (!pinned) expect(recalled / wanted).toBeGreaterThanOrEqual(0.98);
  }
  await addPast(at);
  const analyze = await at.admin.connect();
  await analyze.query('ANALYZE knowledge.fact_versions').finally(() => analyze.release());
  await measureLookups(at);
  const conditions = `${FACTS} facts, ${VERSIONS} versions, load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`;
  if (process.env['FIGURES'] === 'json') console.log(JSON.stringify({ conditions, figures }, null, 2));
  else {
    console.log(conditions);
    for (const { what, value, floor } of figures)
      console.log(`${what}\n    ${value}${floor === '' ? '' : `\n    floor: ${floor}`}`);
  }
});

/**
 * The ten nearest vectors of a tenant by bare SQL: through the index for the large one, by reading all
 * of its own for the small one.
 */
async function measureVectorFloor(at: KnowledgeDatabase, tenantId: string, space: string): Promise<string> {
  const client = await at.admin.connect();
  const times: number[] = [];
  try {
    await client.query('BEGIN');
    if (tenantId === 'acme')
      await client.query(
        'SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off',
      );
    for (let round = 0; round < 50; round++) {
      const [values] = await hashedEmbeddings().embed([
        `${TOPICS[random(10)]} ${random(FACTS)} ${vocabulary[random(5_000)]}`,
      ]);
      const begun = performance.now();
      await client.query(
        `SELECT fact_seq FROM knowledge.fact_embeddings WHERE space = '${space}' AND tenant_id = '${tenantId}'
         ORDER BY embedding::vector(384) <=> '[${values?.join(',')}]'::vector(384) LIMIT 10`,
      );
      times.push(performance.now() - begun);
    }
    await client.query('ROLLBACK');
  } finally {
    client.release();
  }
  return `ten nearest by bare SQL ${percentiles(times)}`;
}
