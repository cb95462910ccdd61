import type { Bus } from '@cleanslate/bus';
import { subjects } from '@cleanslate/contracts';
import { createEraser, type Eraser, toKeyedRequest } from '@cleanslate/domain/ledger';
import {
  beginErasure,
  type Database,
  eraseLetters,
  eraseObject,
  eraseOthers,
  eraseSessions,
  eraseTask,
  eraseText,
  findEarlierAttempts,
  findSayingObjects,
  findSayingTasks,
  hasEarlierMessages,
  keySubmits,
  noteErased,
  noteLook,
  type OpenErasure,
  type Tx,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { areRows, eraseMessages, readEnds } from './erase-streams.ts';

export type ErasureOptions = { readonly bus: Bus; readonly database: Database };

/** A look at everything that a tenant has in the ledger. */
const SCAN_MS = 600_000;

/**
 * Frees the ledger, the objects and the streams of what was redacted. Each step is a transaction that finds nothing the
 * second time, so it can be killed anywhere and several schedulers may be at it. Done is said by a look at everything
 * that found nothing, after all that had been handed out or sent before has come back: the maintainer hears of it by
 * the row. `signal` ends it between two of them. Returns true while there is more to do at once.
 */
export function createErasure({ bus, database }: ErasureOptions): (signal: AbortSignal) => Promise<boolean> {
  /** What had been sent when a redaction was first seen here must become rows before they are looked at. */
  const ends = new Map<number, ReadonlyMap<string, number>>();
  return async (signal) => {
    const { next: erasure, open } = await withTransaction(database, LEDGER_SCOPE, async (tx) => {
      // Of those that a scheduler of an older release ended.
      await keySubmits(tx, toKeyedRequest);
      return await beginErasure(tx);
    });
    // Another scheduler may have ended those that are no longer open.
    for (const redactionId of ends.keys()) if (!open.includes(redactionId)) ends.delete(redactionId);
    if (erasure === undefined) return false;
    const { redactionId } = erasure;
    const known = ends.get(redactionId) ?? (await readEnds(bus));
    ends.set(redactionId, known);
    const read = <T>(work: (tx: Tx) => Promise<T>) =>
      withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, work);
    const waitsFor = await read((tx) => findEarlierAttempts(tx, erasure));
    const arrived = (await areRows(bus, known)) && !(await read((tx) => hasEarlierMessages(tx, erasure)));
    if (erasure.looked && (waitsFor.length > 0 || !arrived)) {
      // Looking at everything is dear: not before there may be an end.
      await withTransaction(database, LEDGER_SCOPE, (tx) =>
        noteLook(tx, erasure, { waitsFor, found: false, done: false }),
      );
      return false;
    }
    const found = await eraseAll({ bus, database }, erasure, signal);
    if (found === null) return false;
    const done = arrived && found === 0 && waitsFor.length === 0;
    await withTransaction(database, LEDGER_SCOPE, async (tx) => {
      await noteLook(tx, erasure, { waitsFor, found: found > 0, done });
      if (done) await keySubmits(tx, toKeyedRequest);
    });
    return done || found > 0;
  };
}

/** One look at everything. Returns how much was erased; null where `signal` ended it. */
async function eraseAll(
  { bus, database }: ErasureOptions,
  erasure: OpenErasure,
  signal: AbortSignal,
): Promise<number | null> {
  const eraser = createEraser(erasure);
  const { tenantId } = erasure;
  const read = <T>(work: (tx: Tx) => Promise<T>) =>
    withTransaction(database, { ...LEDGER_SCOPE, readOnly: true, queryTimeoutMs: SCAN_MS }, work);
  const tasks = new Set(erasure.tasks);
  let found = 0;
  const note = async (tx: Tx, step: { rows?: number; objects?: number; tasks?: readonly string[] }) => {
    const count = (step.rows ?? 0) + (step.objects ?? 0);
    if (count === 0) return;
    await noteErased(tx, erasure, step);
    found += count;
    for (const taskId of step.tasks ?? []) tasks.add(taskId);
  };
  for (const taskId of await read((tx) => findSayingTasks(tx, erasure))) {
    if (signal.aborted) return null;
    await withTransaction(database, LEDGER_SCOPE, async (tx) =>
      note(tx, { rows: await eraseTask(tx, tenantId, taskId, eraser), tasks: [taskId] }),
    );
  }
  if (signal.aborted) return null;
  await withTransaction(database, { ...LEDGER_SCOPE, tenantId, queryTimeoutMs: SCAN_MS }, async (tx) =>
    note(tx, { rows: (await eraseOthers(tx, erasure, eraser)) + (await eraseSessions(tx, erasure, eraser)) }),
  );
  for (let after: string | null = ''; after !== null; ) {
    if (signal.aborted) return null;
    const from: string = after;
    after = await withTransaction(database, LEDGER_SCOPE, async (tx) => {
      const page = await eraseLetters(tx, tenantId, eraser, from);
      await note(tx, page);
      return page.next;
    });
  }
  for (const sha256 of await read((tx) => findSayingObjects(tx, erasure))) {
    if (signal.aborted) return null;
    await withTransaction(database, { ...LEDGER_SCOPE, queryTimeoutMs: SCAN_MS }, async (tx) => {
      if (!(await eraseObject(tx, tenantId, sha256, eraser))) return;
      // Who was given the object may have it in memory.
      const named = { tenantId, knowledgeId: sha256, phrases: [], hashes: [sha256] };
      await note(tx, { objects: 1, tasks: await findSayingTasks(tx, named) });
    });
  }
  const messages = await eraseStreams(bus, erasure, eraser, tasks, signal);
  if (messages > 0) await withTransaction(database, LEDGER_SCOPE, (tx) => noteErased(tx, erasure, { messages }));
  return signal.aborted ? null : found + messages;
}

/** Events and doorbells of the tasks in whose rows it stood, and what was said of the fact itself, by its hashes. */
async function eraseStreams(
  bus: Bus,
  { tenantId, knowledgeId, hashes }: OpenErasure,
  eraser: Eraser,
  tasks: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<number> {
  const holds = (text: string) => eraseText(text, eraser) !== text;
  let erased = await eraseMessages(bus, 'EVENTS', subjects.knowledgeEvent(tenantId, knowledgeId), (text) =>
    hashes.some((hash) => text.includes(hash)),
  );
  for (const taskId of tasks) {
    if (signal.aborted) break;
    erased += await eraseMessages(bus, 'EVENTS', subjects.taskEvent(tenantId, taskId), holds);
    erased += await eraseMessages(bus, 'COMMANDS', `cmd.work.*.${tenantId}.${taskId}`, holds);
  }
  return erased;
}
