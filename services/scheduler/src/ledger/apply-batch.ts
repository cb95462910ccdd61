import { randomUUID } from 'node:crypto';
import { AppError, type ErrorBody, isAppError } from '@cleanslate/contracts';
import type { Decided, MachineOptions, OutgoingContext } from '@cleanslate/domain/ledger';
import type { Tracer } from '@cleanslate/runtime/service';
import {
  closeLetters,
  type Database,
  discardNeedless,
  insertMessageLetter,
  insertStepLetters,
  loadForUpdate,
  type NumberedEvent,
  type PlanCache,
  readKnowledgeRevision,
  returnLetters,
  type StateCache,
  saveChanges,
  saveTurns,
  type TaskKey,
  type Tx,
  upsertSettlements,
  withTransaction,
} from '@cleanslate/store/ledger';
import { admitReady } from './admit-ready.ts';
import { applyControl, applyFork } from './apply-controls.ts';
import { applyReplay, findReplayedTask } from './apply-replays.ts';
import { answerKnown, answerRefused, beginAccepted, planSubmits, type SubmitPlan } from './apply-submits.ts';
import { Batch, type DueDoorbell } from './batch.ts';
import { fireSchedules } from './fire-schedules.ts';
import { type Foreseen, foreseeRoom } from './foresee-room.ts';
import type { InputItem, LedgerItem, LedgerResult } from './items.ts';
import type { BatchNews } from './ledger-telemetry.ts';
import { holdLetters, settleLetters } from './letter-runs.ts';
import type { Turn } from './turn.ts';

export const LEDGER_SCOPE = { role: 'cleanslate_scheduler' } as const;

export type LedgerContext = {
  readonly database: Database;
  readonly plans: PlanCache;
  readonly states: StateCache;
  readonly epoch: number;
  readonly options: MachineOptions;
  readonly tracer: Tracer;
};

/** A committed batch: a result per item, and what is to be published now. */
export type AppliedBatch = {
  readonly results: readonly LedgerResult[];
  readonly doorbells: readonly DueDoorbell[];
  /** What messages of the batch say of time, and their ids. */
  readonly context: OutgoingContext;
  readonly aborts: Batch['aborts'];
  /** Ready steps were left behind although there may be room: look again at once. */
  readonly waiting: boolean;
  /** Committed with their positions, ready to be published in that order. */
  readonly events: readonly NumberedEvent[];
  readonly hasEvents: boolean;
  readonly hasSettlements: boolean;
  readonly news: BatchNews;
};

/**
 * Applies a batch of submits, claims, reports, timers and controls in one transaction: lock, decide, write rows +
 * transitions + events, commit.
 */
export async function applyBatch(
  context: LedgerContext,
  items: readonly LedgerItem[],
  turn: Turn,
): Promise<AppliedBatch> {
  try {
    const { learn, ...applied } = await withTransaction(context.database, LEDGER_SCOPE, async (tx) => {
      try {
        return await applyIn(tx, context, items, turn);
      } catch (error) {
        // It will hold no lock any more, and where it is tried again it may have to wait
        // for one of the batch behind it.
        turn.passOn();
        throw error;
      }
    });
    learn();
    return applied;
  } catch (error) {
    if (isAppError(error) && error.code === 'DATABASE_UNAVAILABLE') context.states.clear();
    throw error;
  } finally {
    turn.passOn();
  }
}

/** Where nothing new comes in. */
const NO_PIN = { revision: 0, nowMs: 0 };

/** `learn` tells the cache of states; to be called once it is committed. */
type Uncommitted = AppliedBatch & { readonly learn: () => void };

async function applyIn(tx: Tx, context: LedgerContext, asked: readonly LedgerItem[], turn: Turn): Promise<Uncommitted> {
  const { epoch, options } = context;
  const due = asked.find((item) => item.kind === 'schedules');
  // What follows from schedules comes after what was asked, so that results stay in order.
  const items = due === undefined ? asked : [...asked, ...(await fireSchedules(tx, due.registry))];
  const held = await holdLetters(tx, items);
  const live = items.filter((item) => !held.has(item));
  const asking = live.filter((item) => item.kind === 'submit');
  const [submits, pin] =
    asking.length === 0 ? [[], NO_PIN] : await Promise.all([planSubmits(tx, asking), readKnowledgeRevision(tx)]);
  const replayed: (TaskKey | undefined)[] = [];
  for (const item of items) if (item.kind === 'replay') replayed.push(await findReplayedTask(tx, item));
  const keys: TaskKey[] = [
    ...live.filter((item) => item.kind === 'input' || item.kind === 'control' || item.kind === 'fork'),
    ...live.filter((item) => item.kind === 'fork').map(({ tenantId, newTaskId }) => ({ tenantId, taskId: newTaskId })),
    ...submits.filter((plan) => plan.kind === 'known').map((plan) => plan.key),
    ...replayed.filter((key) => key !== undefined),
  ];
  let foreseen: Foreseen | undefined;
  const behindLocks = async () => {
    // The batch before this one still has the lock, and will fill room.
    if (turn.isFirst) foreseen = await foreseeRoom(tx, context.states, items);
  };
  const [accepted, loaded] = await Promise.all([
    beginAccepted(
      tx,
      epoch,
      submits.filter((plan) => plan.kind === 'new').map((plan) => plan.item),
      pin,
      context,
    ),
    loadForUpdate(tx, epoch, keys, context.plans, { cache: context.states, behindLocks }),
  ]);
  const batch = new Batch(loaded, epoch, options, createIds());
  for (const { item, taskSeq, decided, span } of accepted) {
    context.plans.add(item.planHash, item.plan);
    batch.begin(item, taskSeq, decided, span);
  }
  const plans: SubmitPlans = new Map(submits.map((plan) => [plan.item, plan]));
  const results: LedgerResult[] = [];
  for (const item of items) {
    const early = held.get(item);
    if (early !== undefined) results.push({ state: undefined, now: batch.now, ...early });
    // Most items are inputs, and those wait for nothing.
    else results.push(item.kind === 'input' ? applyInput(batch, item) : await applyItem(tx, batch, item, plans));
  }
  await turn.first;
  const waiting = await admitReady(
    tx,
    context,
    batch,
    items.some((item) => item.kind === 'admit'),
    foreseen,
  );
  return await save(tx, context, batch, await settleLetters(tx, items, held, results), waiting, turn);
}

/** Ids of a batch's messages: what makes them unique is drawn once, and a batch that is tried again draws anew. */
function createIds(): () => string {
  const batch = randomUUID();
  let count = 0;
  return () => `${batch}.${++count}`;
}

type SubmitPlans = ReadonlyMap<LedgerItem, SubmitPlan>;

async function applyItem(
  tx: Tx,
  batch: Batch,
  item: Exclude<LedgerItem, InputItem>,
  plans: SubmitPlans,
): Promise<LedgerResult> {
  const nothing: LedgerResult = { state: undefined, now: batch.now, refused: null };
  switch (item.kind) {
    case 'submit': {
      const plan = plans.get(item);
      if (plan?.kind === 'known') return answerKnown(batch, plan);
      if (plan?.kind === 'refused') return answerRefused(batch, item, plan.error);
      return { ...nothing, state: batch.find(item)?.state };
    }
    case 'refuse':
      return answerRefused(batch, item, item.error);
    case 'admit':
    case 'schedules':
      return nothing;
    case 'letter':
      await insertMessageLetter(tx, item.letter, item.tenantId);
      return nothing;
    case 'replay':
      return await applyReplay(tx, batch, item);
    case 'control':
      return await applyControl(tx, batch, item);
    case 'fork':
      return await applyFork(tx, batch, item);
  }
}

function applyInput(batch: Batch, item: InputItem): LedgerResult {
  const decided = batch.decide(item, item.input);
  // Whoever replays a message must hear that it changed nothing; its first sender has no use for it.
  const refused = item.letter === undefined ? null : decided === undefined ? goneError(item) : refusalOf(decided);
  return { state: decided?.state, now: batch.now, refused };
}

function goneError({ taskId }: TaskKey): ErrorBody {
  return new AppError('NOT_FOUND', `task "${taskId}" is no longer kept`).toBody();
}

function refusalOf(decided: Decided): ErrorBody | null {
  const event = decided.changes.map((change) => change.event).find((candidate) => candidate.kind === 'refused');
  return event === undefined ? null : new AppError(event.code, event.detail).toBody();
}

async function save(
  tx: Tx,
  { states }: LedgerContext,
  batch: Batch,
  results: readonly LedgerResult[],
  waiting: boolean,
  turn: Turn,
): Promise<Uncommitted> {
  const changes = batch.toChanges();
  const saved = Promise.all([
    saveChanges(tx, changes),
    insertStepLetters(tx, batch.letters),
    closeLetters(
      tx,
      batch.closedLetters,
      batch.letters.flatMap((letter) => letter.replayOf ?? []),
    ),
    returnLetters(tx, batch.returnedLetters),
    discardNeedless(tx, batch.needlessLetters),
    upsertSettlements(tx, batch.settlements),
    saveTurns(tx, batch.turns),
  ]);
  // Letters are written one behind the other; all else is on its way by now, and so may the commit be.
  if (batch.letters.length + batch.needlessLetters.length === 0) {
    tx.commit();
    turn.prepared();
  }
  const [{ events, xid }] = await saved;
  return {
    results,
    doorbells: batch.doorbells,
    context: batch.context,
    aborts: batch.aborts,
    waiting,
    events: events ?? [],
    hasEvents: changes.events.length > 0,
    hasSettlements: batch.settlements.length > 0,
    news: { changes, accepted: batch.accepted, ended: batch.ended },
    learn: () => states.learn(changes.aggregates, xid),
  };
}
