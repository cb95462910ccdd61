import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@cleanslate/client';
import { type DeadLetterSummary, type ErrorBody, toAppError } from '@cleanslate/contracts';
import { EXIT, exitCodeOf } from '../exit-code.ts';

export type BulkOptions = {
  readonly batch: string;
  /** Replays per second. */
  readonly rate: number;
  /** Most replays in flight at once: live work must find room beside them. */
  readonly inFlight: number;
  /** Stop after this many replays that failed again; 0: never. */
  readonly stopAfter: number;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** How long to wait for the last ones. Milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
};

export type BulkReport = {
  readonly batch: string;
  readonly selected: number;
  /** Bulk replays of them failed three times: left alone. */
  readonly parked: readonly string[];
  replayed: string[];
  readonly refused: { letterId: string; error: ErrorBody }[];
  /** Claimed and reported as a failure: each goes on in another letter. */
  failedAgain: string[];
  /** Not ended when the wait was over. */
  unsettled: string[];
  /** Not tried: it stopped. */
  notTried: string[];
  stopped: boolean;
};

const LOOK_MS = 250;
/** Most requests in flight: an answer comes after a commit, and the rate must not wait for each. */
const CONCURRENT = 32;
/** A pause is not made up for by a burst of more than this. */
const CATCH_UP_MS = 100;

/**
 * Replays letters at a rate, and no faster than those in flight get done. Its progress is in the ledger alone: killed
 * and started again it finds those letters no longer open, and goes on with the rest. Throws if the platform can't be
 * reached.
 */
export async function bulkReplay(
  client: Client,
  letters: readonly DeadLetterSummary[],
  options: BulkOptions,
): Promise<BulkReport> {
  const parked = letters.filter((letter) => letter.needsHuman).map((letter) => letter.letterId);
  const todo = letters.map((letter) => letter.letterId).filter((id) => !parked.includes(id));
  const report: BulkReport = {
    batch: options.batch,
    selected: letters.length,
    parked,
    replayed: [],
    refused: [],
    failedAgain: [],
    unsettled: [],
    notTried: [],
    stopped: false,
  };
  const run: Run = { client, report, options, sending: new Set(), sinceLook: 0, lookedAt: 0 };
  let due = performance.now();
  for (const [i, letterId] of todo.entries()) {
    if (!options.dryRun) {
      due = Math.max(due, performance.now() - CATCH_UP_MS);
      await sleep(Math.max(0, due - performance.now()), undefined, { signal: options.signal });
      due += 1_000 / options.rate;
      await makeRoom(run);
    }
    if (hasFailedEnough(run)) {
      report.stopped = true;
      report.notTried = todo.slice(i);
      break;
    }
    while (run.sending.size >= CONCURRENT) await Promise.race(run.sending);
    if (run.fault !== undefined) break;
    send(run, letterId, todo.length);
  }
  await Promise.all(run.sending);
  if (run.fault !== undefined) throw run.fault.error;
  if (!options.dryRun) await settle(run);
  return report;
}

type Run = {
  readonly client: Client;
  readonly report: BulkReport;
  readonly options: BulkOptions;
  readonly sending: Set<Promise<void>>;
  /** Requested since the last look at the ledger: they count as in flight until it says otherwise. */
  sinceLook: number;
  lookedAt: number;
  /** The platform can't be reached, or refuses us. */
  fault?: { readonly error: unknown };
};

function send(run: Run, letterId: string, of: number): void {
  const sent = replay(run, letterId)
    .catch((error: unknown) => {
      run.fault ??= { error };
    })
    .finally(() => {
      run.sending.delete(sent);
      run.options.onProgress(run.report.replayed.length + run.report.refused.length, of);
    });
  run.sending.add(sent);
  run.sinceLook++;
}

async function replay({ client, report, options }: Run, letterId: string): Promise<void> {
  const { batch, dryRun, force } = options;
  try {
    await client.deadLetters.replay(letterId, { batch, ...(dryRun && { dryRun }), ...(force && { force }) });
    report.replayed.push(letterId);
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.badInput) throw error;
    report.refused.push({ letterId, error: toAppError(error).toBody() });
  }
}

function hasFailedEnough({ report, options }: Run): boolean {
  return options.stopAfter > 0 && report.failedAgain.length >= options.stopAfter;
}

/** 0 if every letter was replayed and none failed again; 1: partial. */
export function bulkExitCode({ parked, refused, failedAgain, unsettled, notTried }: BulkReport): number {
  const left = [parked, refused, failedAgain, unsettled, notTried].some((list) => list.length > 0);
  return left ? EXIT.taskFailed : EXIT.ok;
}

/** Waits until fewer than `inFlight` are running, or enough have failed again. */
async function makeRoom(run: Run): Promise<void> {
  const full = () => run.report.unsettled.length + run.sinceLook >= run.options.inFlight;
  if (!full() && performance.now() - run.lookedAt < LOOK_MS) return;
  await look(run);
  while (full() && !hasFailedEnough(run) && run.fault === undefined) {
    await sleep(LOOK_MS / 5, undefined, { signal: run.options.signal });
    await look(run);
  }
}

async function settle(run: Run): Promise<void> {
  const until = performance.now() + run.options.waitMs;
  for (;;) {
    await look(run);
    if (run.report.unsettled.length === 0 || performance.now() > until) return;
    await sleep(LOOK_MS, undefined, { signal: run.options.signal });
  }
}

/** A request on its way during the look may be counted twice: as in flight and as requested since. Never as done. */
async function look(run: Run): Promise<void> {
  const { client, report } = run;
  run.sinceLook = run.sending.size;
  const [unsettled, failedAgain] = await Promise.all([
    listBatch(client, { batch: report.batch, status: 'replaying' }),
    listBatch(client, { batch: report.batch, outcome: 'failed_again' }),
  ]);
  report.unsettled = unsettled;
  const replayed = new Set(report.replayed);
  report.failedAgain = failedAgain.filter((id) => replayed.has(id));
  run.lookedAt = performance.now();
}

async function listBatch(client: Client, query: Parameters<Client['deadLetters']['list']>[0]): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const { letters, next } = await client.deadLetters.list({ ...query, limit: 500, ...(before && { before }) });
    for (const { letterId } of letters) ids.push(letterId);
    if (next === null) return ids;
    before = next;
  }
}
