import { type AdmissionLimit, decideAdmission, type InFlight } from '@cleanslate/domain/ledger';
import {
  findReady,
  type Line,
  loadLate,
  type ReadyStep,
  type Room,
  setNextLooks,
  type Tx,
  takeRoom,
  toPriorityNumber,
  type WaitingStep,
} from '@cleanslate/store/ledger';
import type { LedgerContext } from './apply-batch.ts';
import type { Batch } from './batch.ts';
import { type Foreseen, toLineKey } from './foresee-room.ts';

/** Steps dispatched by one transaction, at most. */
const LIMIT = 300;
/**
 * Heads read of each line, at least: one tenant's share of the room is more than an even one
 * when others have much in flight.
 */
const MIN_HEADS = 16;

/**
 * Admission, in the transaction that changed what there is to admit: steps that were ready before and those that became
 * ready in this batch go out to the queues as far as announced slots and limits go. Without it each step would cost
 * another commit. Returns true when steps were left behind although there may be room for them.
 */
export async function admitReady(
  tx: Tx,
  context: LedgerContext,
  batch: Batch,
  asked: boolean,
  foreseen: Foreseen | undefined,
): Promise<boolean> {
  const delta = batch.inFlightDelta();
  const readied = findReadied(batch);
  if (!asked && readied.length === 0 && !delta.some(({ steps }) => steps < 0)) return false;
  if (asked) await setNextLooks(tx);
  const isForeseen = foreseen !== undefined && readied.every((step) => foreseen.lines.has(toLineKey(step)));
  const room = isForeseen ? foreseen.room : await takeRoom(tx, readied);
  if (room === undefined) return readied.length > 0 || asked;
  const inFlight = [...room.inFlight, ...delta];
  const rooms = toRooms(room, inFlight);
  const earlier = await loadHeads(tx, room, inFlight, rooms);
  // Behind a line that was read in part, new ones must not overtake what was not read.
  const behind = readied.filter((step) => !earlier.cut.has(listOf(step)));
  const { admitted, turns } = decideAdmission<WaitingStep | ReadyStep>({
    candidates: [...earlier.steps, ...behind],
    inFlight,
    rooms,
    limits: room.lines.flatMap(toLimits),
    turns: new Map(room.lines.flatMap(({ role, turn }) => (turn === null ? [] : [[role, turn]]))),
  });
  const late = admitted.flatMap((step) => ('taskSeq' in step && batch.find(step) === undefined ? [step.taskSeq] : []));
  if (late.length > 0) batch.adopt(await loadLate(tx, context.epoch, late, context.plans, context.states));
  batch.turns = turns;
  for (const { stepId, tenantId, taskId } of admitted) batch.decide({ tenantId, taskId }, { kind: 'dispatch', stepId });
  return admitted.length >= LIMIT || (admitted.length > 0 && isRoomLeft(rooms, admitted, earlier.cut));
}

/**
 * A line was read in part, and its role could let out more. (What a limit holds back is not
 * read again at the next look.)
 */
function isRoomLeft(rooms: ReadonlyMap<string, number>, admitted: readonly ReadyStep[], cut: ReadonlySet<string>) {
  const left = new Map(rooms);
  for (const { role } of admitted) left.set(role, (left.get(role) ?? 0) - 1);
  return [...cut].some((list) => (left.get(list.split(' ')[0] ?? '') ?? 0) > 0);
}

function findReadied(batch: Batch): readonly ReadyStep[] {
  return batch.findReadied().map(({ task, step }) => {
    const { tenantId, taskId, workflow } = task;
    const { stepId, role } = step;
    const readyAt = step.readyAt ?? batch.now;
    return { tenantId, taskId, stepId, role, workflow, priority: toPriorityNumber(task.priority), readyAt };
  });
}

/** Dispatched plus executing steps of a role stay at or below max(1, 2 × slots). */
function toRooms({ lines }: Room, inFlight: readonly InFlight[]): ReadonlyMap<string, number> {
  const rooms = new Map(lines.map(({ role, slots }) => [role, Math.max(1, 2 * slots)]));
  for (const { role, steps } of inFlight) {
    const room = rooms.get(role);
    if (room !== undefined) rooms.set(role, room - steps);
  }
  for (const [role, room] of rooms) rooms.set(role, Math.min(room, LIMIT));
  return rooms;
}

function toLimits({ tenantId, workflow, tenantLimit, workflowLimit }: Line): readonly AdmissionLimit[] {
  return [
    ...(tenantLimit === null ? [] : [{ tenantId, workflow: '', maxRunning: tenantLimit }]),
    ...(workflowLimit === null ? [] : [{ tenantId, workflow, maxRunning: workflowLimit }]),
  ];
}

type Heads = {
  readonly steps: readonly WaitingStep[];
  /** Lines, by priority, of which there may be more than was read. */
  readonly cut: ReadonlySet<string>;
};

/** Steps that were ready before this batch: as many of each line as could be let out. */
async function loadHeads(
  tx: Tx,
  { lines }: Room,
  inFlight: readonly InFlight[],
  rooms: ReadonlyMap<string, number>,
): Promise<Heads> {
  const open = lines.filter((line) => line.waits && (rooms.get(line.role) ?? 0) > 0 && !isFull(line, inFlight));
  if (open.length === 0) return { steps: [], cut: new Set() };
  const widest = Math.max(...open.map(({ role }) => rooms.get(role) ?? 0));
  const limit = Math.min(widest, Math.max(MIN_HEADS, Math.ceil((2 * widest) / open.length)));
  const steps = await findReady(tx, open, limit);
  const sizes = new Map<string, number>();
  for (const step of steps) sizes.set(listOf(step), (sizes.get(listOf(step)) ?? 0) + 1);
  return { steps, cut: new Set([...sizes].flatMap(([list, size]) => (size >= limit ? [list] : []))) };
}

function isFull({ tenantId, workflow, tenantLimit, workflowLimit }: Line, inFlight: readonly InFlight[]): boolean {
  if (tenantLimit === null && workflowLimit === null) return false;
  const ofTenant = inFlight.filter((load) => load.tenantId === tenantId);
  const count = (loads: readonly InFlight[]) => loads.reduce((sum, { steps }) => sum + steps, 0);
  return (
    count(ofTenant) >= (tenantLimit ?? Number.POSITIVE_INFINITY) ||
    count(ofTenant.filter((load) => load.workflow === workflow)) >= (workflowLimit ?? Number.POSITIVE_INFINITY)
  );
}

function listOf({ role, tenantId, workflow, priority }: ReadyStep): string {
  return `${role} ${tenantId} ${workflow} ${priority}`;
}
