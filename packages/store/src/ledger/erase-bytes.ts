import { type Eraser, toFragments } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { eraseText } from './erase-rows.ts';
import type { OpenErasure } from './erasures.ts';

const LETTERS = 50;

type LetterRow = {
  letter_id: string;
  task_id: string | null;
  headers: unknown;
  error: unknown;
  history: unknown;
  body: Buffer | null;
  edited: Buffer | null;
};
export type ErasedLetters = { readonly rows: number; readonly tasks: readonly string[]; readonly next: string | null };

/**
 * Erases in a page of a tenant's dead letters, and of those that nobody's name stands on; bytes are looked at as text.
 */
export async function eraseLetters(tx: Tx, tenantId: string, eraser: Eraser, after: string): Promise<ErasedLetters> {
  const { rows } = await tx.query<LetterRow>(
    `SELECT letter_id, task_id, headers, error, history, body, edited FROM ledger.dead_letters
     WHERE (tenant_id = $1 OR tenant_id IS NULL) AND letter_id > $2 ORDER BY letter_id LIMIT $3 FOR UPDATE`,
    [tenantId, after, LETTERS],
  );
  const tasks: string[] = [];
  let changed = 0;
  for (const row of rows) {
    const [headers, error, history] = [row.headers, row.error, row.history].map((value) => eraser.json(value));
    const body = eraseBytes(row.body, eraser);
    const edited = eraseBytes(row.edited, eraser);
    if (
      headers === row.headers &&
      error === row.error &&
      history === row.history &&
      body === row.body &&
      edited === row.edited
    )
      continue;
    await tx.query(
      'UPDATE ledger.dead_letters SET headers = $2, error = $3, history = $4, body = $5, edited = $6 WHERE letter_id = $1',
      [row.letter_id, ...[headers, error, history].map((value) => JSON.stringify(value)), body, edited],
    );
    changed++;
    if (row.task_id !== null) tasks.push(row.task_id);
  }
  return { rows: changed, tasks, next: rows.length < LETTERS ? null : (rows.at(-1)?.letter_id ?? null) };
}

function eraseBytes(bytes: Buffer | null, eraser: Eraser): Buffer | null {
  if (bytes === null) return null;
  const text = bytes.toString('utf8');
  const erased = eraseText(text, eraser);
  return erased === text ? bytes : Buffer.from(erased);
}

/** Objects of the tenant that may hold a phrase, each of its words in one of the usual spellings, by hash. */
export async function findSayingObjects(
  tx: Tx,
  { tenantId, knowledgeId, phrases }: Pick<OpenErasure, 'tenantId' | 'knowledgeId' | 'phrases'>,
): Promise<string[]> {
  const values: Buffer[][] = [];
  const conditions = phrases.map((phrase) => {
    const each = toFragments(phrase).map(
      (word) =>
        `EXISTS (SELECT FROM unnest($${values.push(toSpellings(word)) + 2}::bytea[]) f WHERE position(f IN bytes) > 0)`,
    );
    return each.length === 0 ? 'true' : `(${each.join(' AND ')})`;
  });
  const { rows } = await tx.query<{ sha256: string }>(
    `SELECT sha256 FROM ledger.objects WHERE tenant_id = $1 AND redacted_at IS NULL
       AND (position($2::bytea IN bytes) > 0${conditions.map((condition) => ` OR ${condition}`).join('')}) ORDER BY sha256`,
    [tenantId, Buffer.from(`"${knowledgeId}`), ...values],
  );
  return rows.map((row) => row.sha256);
}

/**
 * Bytes know no case, and to fold that of all objects takes minutes: as it is, in small letters, in
 * capitals, with a capital at its head.
 */
function toSpellings(word: string): Buffer[] {
  const [small, capitals] = [word.toLowerCase(), word.toUpperCase()];
  const head = `${[...capitals][0] ?? ''}${[...small].slice(1).join('')}`;
  return [...new Set([word, small, capitals, head])].map((spelling) => Buffer.from(spelling));
}

/** Erases an object whole if it holds what is to go: with other bytes it would not be what its name says. */
export async function eraseObject(tx: Tx, tenantId: string, sha256: string, eraser: Eraser): Promise<boolean> {
  const { rows } = await tx.query<{ bytes: Buffer }>(
    'SELECT bytes FROM ledger.objects WHERE tenant_id = $1 AND sha256 = $2 AND redacted_at IS NULL FOR UPDATE',
    [tenantId, sha256],
  );
  const bytes = rows[0]?.bytes;
  if (bytes === undefined || eraseBytes(bytes, eraser) === bytes) return false;
  await tx.query(`UPDATE ledger.objects SET bytes = '', redacted_at = now() WHERE tenant_id = $1 AND sha256 = $2`, [
    tenantId,
    sha256,
  ]);
  return true;
}
