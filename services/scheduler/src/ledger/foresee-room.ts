import type { Plan } from '@cleanslate/contracts';
import { keyOf, type LineName, type Room, type StateCache, type Tx, takeRoom } from '@cleanslate/store/ledger';
import type { LedgerItem } from './items.ts';

/**
 * What admission will ask for, read before the batch is decided. `room` undefined: another scheduler admits just now.
 */
export type Foreseen = { readonly lines: ReadonlySet<string>; readonly room: Room | undefined };

/** So many different plans are looked at; what is missing is asked for when it is needed. */
const MAX_PLANS = 20;

/**
 * Asks for the room that steps of these items may need, while the locks of their tasks are on the way: admission then
 * costs no round trip of its own. Undefined where nothing of the batch readies a step or frees a slot.
 */
export async function foreseeRoom(
  tx: Tx,
  states: StateCache,
  items: readonly LedgerItem[],
): Promise<Foreseen | undefined> {
  if (items.every(isWithoutAdmission)) return undefined;
  const lines = new Map<string, LineName>();
  for (const { tenantId, plan } of findPlans(states, items)) {
    for (const { role } of plan.steps) {
      const line = { role, tenantId, workflow: plan.workflow };
      lines.set(toLineKey(line), line);
    }
  }
  const room = await takeRoom(tx, [...lines.values()]);
  return { lines: new Set(lines.keys()), room };
}

export function toLineKey({ role, tenantId, workflow }: LineName): string {
  return `${role} ${tenantId} ${workflow}`;
}

function isWithoutAdmission(item: LedgerItem): boolean {
  return item.kind === 'letter' || item.kind === 'refuse' || (item.kind === 'input' && item.input.kind === 'claim');
}

function findPlans(states: StateCache, items: readonly LedgerItem[]) {
  const found = new Map<string, { readonly tenantId: string; readonly plan: Plan }>();
  for (const item of items) {
    if (found.size >= MAX_PLANS) break;
    if ((item.kind !== 'submit' && item.kind !== 'input') || isWithoutAdmission(item)) continue;
    const plan = item.kind === 'submit' ? item.plan : states.guess(keyOf(item))?.plan;
    if (plan !== undefined) found.set(`${item.tenantId} ${plan.workflow}`, { tenantId: item.tenantId, plan });
  }
  return [...found.values()];
}
