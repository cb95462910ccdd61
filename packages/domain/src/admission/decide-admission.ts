/**
 * A ready step longer by this much is let out like one of the next higher priority that became ready now: so a low one
 * waits at most two of these behind the others of its tenant.
 */
export const AGEING_MS = 60_000;

export type Candidate = {
  readonly role: string;
  readonly tenantId: string;
  readonly workflow: string;
  /** 0 low, 1 normal, 2 high. */
  readonly priority: number;
  /** Since when the step is ready. */
  readonly readyAt: number;
};

/** Steps dispatched or executing. */
export type InFlight = {
  readonly role: string;
  readonly tenantId: string;
  readonly workflow: string;
  readonly steps: number;
};

export type AdmissionLimit = {
  readonly tenantId: string;
  /** '' for all the tenant's steps. */
  readonly workflow: string;
  readonly maxRunning: number;
};

export type Admission<C extends Candidate> = {
  readonly candidates: readonly C[];
  readonly inFlight: readonly InFlight[];
  /** How many more steps each role may let out. */
  readonly rooms: ReadonlyMap<string, number>;
  readonly limits: readonly AdmissionLimit[];
  /** The tenant that each role let a step out for last. */
  readonly turns: ReadonlyMap<string, string>;
};

export type Admitted<C> = {
  readonly admitted: readonly C[];
  /** New turns, of roles in which several tenants waited. */
  readonly turns: ReadonlyMap<string, string>;
};

/** Order within a tenant and role: by priority, with ageing; a constant per step, so waiting never changes it. */
export function rankOf({ readyAt, priority }: Candidate): number {
  return readyAt - priority * AGEING_MS;
}

/**
 * Who is let out. In each role the tenant with the fewest steps in flight is next, of equals the one whose turn it is
 * (round robin); so neither the number of a tenant's ready steps nor their priority delays another tenant. Priority
 * orders a tenant's own steps. What a limit holds back stays ready.
 */
export function decideAdmission<C extends Candidate>(input: Admission<C>): Admitted<C> {
  const quota = new Quota(input.limits, input.inFlight);
  const turns = new Map<string, string>();
  const admitted: C[] = [];
  for (const [role, candidates] of byRank(input.candidates)) {
    const lines = groupBy(candidates, (candidate) => candidate.tenantId);
    const running = countByTenant(input.inFlight, role);
    const contended = lines.size > 1;
    let turn = input.turns.get(role) ?? '';
    for (let room = input.rooms.get(role) ?? 0; room > 0; room--) {
      const next = takeNext(lines, running, quota, turn);
      if (next === undefined) break;
      admitted.push(next);
      turn = next.tenantId;
      running.set(turn, (running.get(turn) ?? 0) + 1);
      quota.count(next);
      if (contended) turns.set(role, turn);
    }
  }
  return { admitted, turns };
}

function takeNext<C extends Candidate>(
  lines: Map<string, C[]>,
  running: ReadonlyMap<string, number>,
  quota: Quota,
  turn: string,
): C | undefined {
  const inTurn = [...lines.keys()].sort(
    (a, b) =>
      (running.get(a) ?? 0) - (running.get(b) ?? 0) || Number(a <= turn) - Number(b <= turn) || (a < b ? -1 : 1),
  );
  for (const tenantId of inTurn) {
    const line = lines.get(tenantId) ?? [];
    // Within this decision quotas only fill up: what is held back once stays so.
    while (line.length > 0) {
      const next = line.pop();
      if (next !== undefined && quota.allows(next)) return next;
    }
    lines.delete(tenantId);
  }
  return undefined;
}

/** Limits and what they count; most platforms set none. */
class Quota {
  readonly #left = new Map<string, number>();

  constructor(limits: readonly AdmissionLimit[], inFlight: readonly InFlight[]) {
    for (const { tenantId, workflow, maxRunning } of limits) this.#left.set(`${tenantId} ${workflow}`, maxRunning);
    for (const load of inFlight) this.count(load, load.steps);
  }

  allows({ tenantId, workflow }: Candidate): boolean {
    if (this.#left.size === 0) return true;
    return [`${tenantId} `, `${tenantId} ${workflow}`].every((name) => (this.#left.get(name) ?? 1) > 0);
  }

  count({ tenantId, workflow }: Pick<Candidate, 'tenantId' | 'workflow'>, steps = 1): void {
    if (this.#left.size === 0) return;
    for (const name of new Set([`${tenantId} `, `${tenantId} ${workflow}`])) {
      const left = this.#left.get(name);
      if (left !== undefined) this.#left.set(name, left - steps);
    }
  }
}

/**
 * Candidates of each role, best last; the role whose best has waited longest comes first, so that a limit over
 * several roles starves none of them.
 */
function byRank<C extends Candidate>(candidates: readonly C[]): readonly (readonly [string, readonly C[]])[] {
  const best = (ranked: readonly C[]) => {
    const last = ranked.at(-1);
    return last === undefined ? 0 : rankOf(last);
  };
  // Sorting is stable: of equals, the one named first goes first.
  const ranked = candidates.map((candidate, i) => ({ candidate, i }));
  ranked.sort((a, b) => rankOf(b.candidate) - rankOf(a.candidate) || b.i - a.i);
  const sorted = ranked.map(({ candidate }) => candidate);
  return [...groupBy(sorted, (candidate) => candidate.role)].sort(([, a], [, b]) => best(a) - best(b));
}

function groupBy<C>(items: readonly C[], nameOf: (item: C) => string): Map<string, C[]> {
  const groups = new Map<string, C[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) groups.set(nameOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function countByTenant(inFlight: readonly InFlight[], role: string): Map<string, number> {
  const running = new Map<string, number>();
  for (const load of inFlight) {
    if (load.role === role) running.set(load.tenantId, (running.get(load.tenantId) ?? 0) + load.steps);
  }
  return running;
}
