import type { Eraser } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { saying } from '../saying.ts';
import type { OpenErasure } from './erasures.ts';

type Words = Pick<OpenErasure, 'tenantId' | 'knowledgeId' | 'phrases' | 'hashes'>;

/**
 * Columns that hold what people and agents said, by table; `key` names a row. A column added to one of these
 * tables belongs here if it can.
 */
const TASK_TABLES = [
  { table: 'ledger.tasks', key: 'task_seq', json: ['input', 'result', 'error', 'failing', 'gate'], text: [] },
  { table: 'ledger.steps', key: 'step_id', json: ['output', 'feedback', 'error', 'failures', 'input_edit'], text: [] },
  { table: 'ledger.outbox', key: 'outbox_id', json: ['headers'], text: ['body'] },
] as const;
const NAMED_TABLES = [
  { table: 'ledger.events', key: 'event_id', json: ['envelope'], text: [] },
  { table: 'ledger.refusals', key: 'detail', json: [], text: ['detail'] },
  { table: 'ledger.repairs', key: 'repair_id', json: [], text: ['detail'] },
] as const;
const OTHER_TABLES = [
  { table: 'ledger.schedules', key: 'schedule_id', json: ['input', 'last_error'], text: [] },
  { table: 'ledger.requests', key: 'request_id', json: ['reply'], text: [] },
] as const;
type Target = (typeof TASK_TABLES | typeof NAMED_TABLES | typeof OTHER_TABLES)[number];

/** Tasks in whose rows something may stand that is to go: every one that has it, and few others. */
export async function findSayingTasks(tx: Tx, words: Words): Promise<string[]> {
  const named = (text: string) => `(${says(text, words)} OR position('"' || $2 IN ${text}) > 0)`;
  const all = (target: Target) =>
    [...target.json.map((name) => `x.${name}::text`), ...target.text.map((name) => `x.${name}`)].join(', ');
  const byTask = TASK_TABLES.map(
    (target) =>
      `SELECT t.task_id FROM ${target.table} x JOIN ledger.tasks t ON t.task_seq = x.task_seq WHERE t.tenant_id = $1 AND ${named(`concat_ws(' ', ${all(target)})`)}`,
  );
  const byName = NAMED_TABLES.map(
    (target) =>
      `SELECT x.task_id FROM ${target.table} x WHERE x.tenant_id = $1 AND ${named(`concat_ws(' ', ${all(target)})`)}`,
  );
  const { rows } = await tx.query<{ task_id: string }>(
    `SELECT DISTINCT task_id FROM (${[...byTask, ...byName].join(' UNION ALL ')}) found ORDER BY 1`,
    [words.tenantId, words.knowledgeId, ...saying('', [...words.phrases, ...words.hashes], 3).values],
  );
  return rows.map((row) => row.task_id);
}

function says(text: string, { phrases, hashes }: Words): string {
  return saying(text, [...phrases, ...hashes], 3).sql;
}

/** Erases in all rows of one task, which is locked first, as by whoever works on it. Returns how many rows changed. */
export async function eraseTask(tx: Tx, tenantId: string, taskId: string, eraser: Eraser): Promise<number> {
  const { rows } = await tx.query<{ task_seq: number }>(
    'SELECT task_seq FROM ledger.tasks WHERE tenant_id = $1 AND task_id = $2 FOR UPDATE',
    [tenantId, taskId],
  );
  const [task] = rows;
  let changed = 0;
  if (task !== undefined)
    for (const target of TASK_TABLES) changed += await eraseRows(tx, target, 'task_seq = $1', [task.task_seq], eraser);
  for (const target of NAMED_TABLES)
    changed += await eraseRows(tx, target, 'tenant_id = $1 AND task_id = $2', [tenantId, taskId], eraser);
  return changed;
}

/**
 * Erases in what agents remember of conversations. The transaction must name the tenant:
 * sessions are seen by one at a time.
 */
export async function eraseSessions(tx: Tx, words: Words, eraser: Eraser): Promise<number> {
  const { sql, values } = saying('text', words.phrases, 2);
  const { rows } = await tx.query<{ session_id: string; n: number; text: string }>(
    `SELECT session_id, n, text FROM ledger.session_items WHERE tenant_id = $1 AND ${sql} FOR UPDATE`,
    [words.tenantId, ...values],
  );
  const changed = rows
    .map((row) => ({ ...row, erased: eraser.text(row.text) }))
    .filter(({ text, erased }) => text !== erased);
  for (const { session_id, n, erased } of changed)
    await tx.query('UPDATE ledger.session_items SET text = $4 WHERE tenant_id = $1 AND session_id = $2 AND n = $3', [
      words.tenantId,
      session_id,
      n,
      erased,
    ]);
  return changed.length;
}

/** Erases in a tenant's rows that belong to no task. */
export async function eraseOthers(tx: Tx, words: Words, eraser: Eraser): Promise<number> {
  let changed = 0;
  for (const target of OTHER_TABLES) {
    const text = `concat_ws(' ', ${target.json.map((name) => `${name}::text`).join(', ')})`;
    const { sql, values } = saying(text, words.phrases, 3);
    const where = `tenant_id = $1 AND (${sql} OR position($2 IN ${text}) > 0)`;
    changed += await eraseRows(tx, target, where, [words.tenantId, `"${words.knowledgeId}`, ...values], eraser);
  }
  return changed;
}

async function eraseRows(
  tx: Tx,
  target: Target,
  where: string,
  values: readonly unknown[],
  eraser: Eraser,
): Promise<number> {
  const { table, key } = target;
  const json: readonly string[] = target.json;
  const text: readonly string[] = target.text;
  const { rows } = await tx.query<Record<string, unknown>>(
    `SELECT ${[...new Set([key, ...json, ...text])].join(', ')} FROM ${table} WHERE ${where}`,
    values,
  );
  let changed = 0;
  for (const row of rows) {
    const erased = [
      ...json.map((name) => [name, row[name], eraser.json(row[name])] as const),
      ...text.map((name) => [name, row[name], eraseText(String(row[name]), eraser)] as const),
    ].filter(([, before, after]) => before !== after);
    if (erased.length === 0) continue;
    const at = values.length + 2;
    const set = erased.map(([name], index) => `${name} = $${at + index}`).join(', ');
    await tx.query(`UPDATE ${table} SET ${set} WHERE ${where} AND ${key} = $${values.length + 1}`, [
      ...values,
      row[key],
      ...erased.map(([name, , after]) => (json.includes(name) && after !== null ? JSON.stringify(after) : after)),
    ]);
    changed++;
  }
  return changed;
}

/** A text that is JSON is looked at as what it says. */
export function eraseText(text: string, eraser: Eraser): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return eraser.text(text);
  }
  const erased = eraser.json(parsed);
  return erased === parsed ? text : JSON.stringify(erased);
}
