import { Plan } from '@cleanslate/contracts';
import type { Aggregate } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import {
  fromStepRow,
  fromTaskRow,
  keyOf,
  type StepRow,
  type StoredAggregate,
  type TaskKey,
  type TaskRow,
} from './rows.ts';
import type { StateCache } from './state-cache.ts';
import { BY_TASK_ID } from './submits.ts';

export type LoadOptions = {
  /** States that need not be read again. */
  readonly cache?: StateCache;
  /** Sends what may share the round trip of the locks: the server comes to it once they are had. */
  readonly behindLocks?: () => Promise<void>;
};
export type Loaded = { readonly now: number; readonly aggregates: ReadonlyMap<string, StoredAggregate> };

/** Plans by hash. They never change, so a process reads each once. */
export class PlanCache {
  readonly #plans = new Map<string, Plan>();

  get(planHash: string): Plan | undefined {
    return this.#plans.get(planHash);
  }

  add(planHash: string, plan: Plan): void {
    this.#plans.set(planHash, plan);
  }

  /** Reads what is missing of `hashes` from the ledger. */
  async fill(tx: Tx, hashes: readonly string[]): Promise<void> {
    const missing = hashes.filter((hash) => !this.#plans.has(hash));
    if (missing.length === 0) return;
    const { rows } = await tx.query<{ plan_hash: string; plan: unknown }>(
      'SELECT plan_hash, plan FROM ledger.plans WHERE plan_hash = ANY($1::text[])',
      [missing],
    );
    for (const row of rows) this.#plans.set(row.plan_hash, Plan.parse(row.plan));
  }
}

/**
 * Locks the tasks in id order, then looks at their rows (a second statement on purpose: a snapshot taken
 * before the lock was granted would be stale; it is on its way already, and the server begins it when the lock
 * is had) and reads those that the cache does not hold. `now` is the database's clock after the locks. Unknown
 * tasks are absent from the result.
 */
export async function loadForUpdate(
  tx: Tx,
  epoch: number,
  keys: readonly TaskKey[],
  plans: PlanCache,
  options: LoadOptions = {},
): Promise<Loaded> {
  const versions = await lockTasks(tx, keys, options);
  return await toLoaded(versions, options.cache, (missing) => readStates(tx, epoch, missing, plans));
}

/**
 * Tasks that join a batch late, out of id order: those that another transaction holds are left out, instead of waited
 * for. They waited in line, so that most of them are read anew: that shares the round trip of the locks.
 */
export async function loadLate(
  tx: Tx,
  epoch: number,
  taskSeqs: readonly number[],
  plans: PlanCache,
  cache: StateCache,
): Promise<Loaded> {
  const guessed = taskSeqs.filter((seq) => !cache.has(seq));
  const [locked, found, states] = await Promise.all([
    lockSeqs(tx, taskSeqs, 'skip'),
    readVersions(tx, taskSeqs),
    readStates(tx, epoch, guessed, plans),
  ]);
  const versions = dropOthers(found, taskSeqs, locked);
  const read = new Map(states.map((stored) => [stored.taskSeq, stored]));
  return await toLoaded(versions, cache, async (missing) => [
    ...missing.flatMap((seq) => read.get(seq) ?? []),
    ...(await readStates(
      tx,
      epoch,
      missing.filter((seq) => !read.has(seq)),
      plans,
    )),
  ]);
}

/** From the cache where it holds this version, else as `read` finds it. */
async function toLoaded(
  { now, own, versions }: Versions,
  cache: StateCache | undefined,
  read: (missing: readonly number[]) => Promise<readonly StoredAggregate[]>,
): Promise<Loaded> {
  const aggregates = new Map<string, StoredAggregate>();
  const add = (taskSeq: number, state: Aggregate, version: string) =>
    aggregates.set(keyOf(state.task), { taskSeq, state, version });
  const missing: number[] = [];
  for (const [taskSeq, version] of versions) {
    const known = cache?.find(taskSeq, version);
    if (known === undefined) missing.push(taskSeq);
    else add(taskSeq, known, version);
  }
  for (const { taskSeq, state } of await read(missing)) {
    const version = versions.get(taskSeq) ?? '';
    // Rows of this very transaction may change again under the same version.
    if (!version.split(/[|,]/).includes(own)) cache?.keep(taskSeq, state, version);
    add(taskSeq, state, version);
  }
  return { now, aggregates };
}

/** All in one order, whoever knows them by which key: two batches must not wait for each other. */
async function lockTasks(tx: Tx, keys: readonly TaskKey[], options: LoadOptions): Promise<Versions> {
  const known = new Map<number, TaskKey>();
  const unknown = new Map<string, TaskKey>();
  for (const key of keys) {
    const taskKey = keyOf(key);
    const seq = options.cache?.findSeq(taskKey);
    if (seq === undefined) unknown.set(taskKey, key);
    else known.set(seq, key);
  }
  const sought = unknown.size === 0 ? [] : await findSeqs(tx, [...unknown.values()]);
  const seqs = [...known.keys(), ...sought];
  const [locked, found] = await Promise.all([lockSeqs(tx, seqs), readVersions(tx, seqs), options.behindLocks?.()]);
  const read = dropOthers(found, seqs, locked);
  const gone = [...known].filter(([seq]) => !read.versions.has(seq));
  if (gone.length === 0) return read;
  // Deleted meanwhile: the same key may be another task by now.
  for (const [seq] of gone) options.cache?.forget(seq);
  const anew = await findSeqs(
    tx,
    gone.map(([, key]) => key),
  );
  return await readVersions(tx, [...locked, ...(await lockSeqs(tx, anew))]);
}

/** Without those that this transaction holds no lock of. */
function dropOthers(read: Versions, asked: readonly number[], locked: readonly number[]): Versions {
  const held = new Set(locked);
  for (const seq of asked) if (!held.has(seq)) read.versions.delete(seq);
  return read;
}

async function lockSeqs(
  tx: Tx,
  seqs: readonly number[],
  ofOthers: 'wait' | 'skip' = 'wait',
): Promise<readonly number[]> {
  if (seqs.length === 0) return [];
  const { rows } = await tx.query<{ seqs: string | null }>(
    `SELECT string_agg(task_seq::text, ',') AS seqs FROM (
       SELECT task_seq FROM ledger.tasks WHERE task_seq = ANY($1::int8[]) ORDER BY task_seq FOR UPDATE ${ofOthers === 'skip' ? 'SKIP LOCKED' : ''}
     ) locked`,
    [toNumberArray(seqs)],
  );
  const locked = rows[0]?.seqs ?? '';
  return locked === '' ? [] : locked.split(',').map(Number);
}

async function findSeqs(tx: Tx, keys: readonly TaskKey[]): Promise<readonly number[]> {
  const { rows } = await tx.query<{ task_seq: number }>(
    `SELECT t.task_seq FROM unnest($1::text[], $2::text[]) AS k(tenant_id, task_id) CROSS JOIN LATERAL (SELECT t.task_seq FROM ledger.tasks t WHERE ${BY_TASK_ID}) t`,
    [toTextArray(keys.map((key) => key.tenantId)), toTextArray(keys.map((key) => key.taskId))],
  );
  return rows.map((row) => row.task_seq);
}

type Versions = { readonly now: number; readonly own: string; readonly versions: Map<number, string> };

/**
 * What `StateCache` tells versions by: the transactions that wrote the rows. All in one row, a line for each task: the
 * driver makes an object of each row.
 */
async function readVersions(tx: Tx, taskSeqs: readonly number[]): Promise<Versions> {
  const { rows } = await tx.query<{ now_ms: number; own: string | null; versions: string | null }>(
    `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms, pg_current_xact_id_if_assigned()::xid::text AS own,
       (SELECT string_agg(v.line, E'\\n') FROM (
          SELECT t.task_seq || ':' || t.xmin || '|' || coalesce(string_agg(s.xmin::text, ',' ORDER BY s.ordinal), '') AS line
          FROM ledger.tasks t LEFT JOIN ledger.steps s ON s.task_seq = ANY (ARRAY[t.task_seq]) WHERE t.task_seq = ANY($1::int8[]) GROUP BY t.task_seq, t.xmin
        ) v) AS versions`,
    [toNumberArray(taskSeqs)],
  );
  const versions = new Map<number, string>();
  for (const line of rows[0]?.versions?.split('\n') ?? []) {
    const colon = line.indexOf(':');
    versions.set(Number(line.slice(0, colon)), line.slice(colon + 1));
  }
  return { now: rows[0]?.now_ms ?? 0, own: rows[0]?.own ?? 'none', versions };
}

/** As committed, without a lock; a task whose plan is not in the ledger is left out. */
export async function readStates(
  tx: Tx,
  epoch: number,
  taskSeqs: readonly number[],
  plans: PlanCache,
): Promise<readonly StoredAggregate[]> {
  if (taskSeqs.length === 0) return [];
  const seqs = toNumberArray(taskSeqs);
  const [tasks, steps] = await Promise.all([
    tx.query<TaskRow>('SELECT * FROM ledger.tasks WHERE task_seq = ANY($1::int8[])', [seqs]),
    tx.query<StepRow>('SELECT * FROM ledger.steps WHERE task_seq = ANY($1::int8[]) ORDER BY task_seq, ordinal', [seqs]),
  ]);
  await plans.fill(tx, [...new Set(tasks.rows.map((row) => row.plan_hash))]);
  const byTask = Map.groupBy(steps.rows, (row) => row.task_seq);
  return tasks.rows.flatMap((row) => {
    const plan = plans.get(row.plan_hash);
    if (plan === undefined) return [];
    const state = { epoch, task: fromTaskRow(row), steps: (byTask.get(row.task_seq) ?? []).map(fromStepRow), plan };
    return [{ taskSeq: row.task_seq, state }];
  });
}

export async function upsertPlan(tx: Tx, planHash: string, workflow: string, plan: Plan): Promise<void> {
  await tx.query('INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    planHash,
    workflow,
    JSON.stringify(plan),
  ]);
}

export async function readEpoch(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ epoch: number }>('SELECT epoch FROM ledger.meta');
  return rows[0]?.epoch ?? 1;
}
