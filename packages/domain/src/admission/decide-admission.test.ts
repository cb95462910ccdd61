import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Admission, AGEING_MS, type Candidate, decideAdmission, rankOf } from './decide-admission.ts';

type Named = Candidate & { readonly name: string };

function ready(name: string, more: Partial<Candidate> = {}): Named {
  return { name, role: 'analyzer', tenantId: 'acme', workflow: 'review', priority: 1, readyAt: 0, ...more };
}

function admit(candidates: readonly Named[], room: number, more: Partial<Admission<Named>> = {}) {
  const rooms = new Map([['analyzer', room]]);
  const decided = decideAdmission({ candidates, inFlight: [], rooms, limits: [], turns: new Map(), ...more });
  return { ...decided, names: decided.admitted.map((candidate) => candidate.name) };
}

describe('within a tenant', () => {
  test('by priority, then by how long a step has been ready; of equals, as they were named', () => {
    const steps = [ready('a'), ready('b'), ready('low', { priority: 0 }), ready('high', { priority: 2, readyAt: 9 })];
    expect(admit([...steps, ready('older', { readyAt: -1 })], 9).names).toEqual(['high', 'older', 'a', 'b', 'low']);
  });

  test('a low one that has waited long enough goes before a high one: nothing starves', () => {
    const low = ready('low', { priority: 0 });
    expect(admit([ready('high', { priority: 2, readyAt: 2 * AGEING_MS - 1 }), low], 1).names).toEqual(['high']);
    expect(admit([ready('high', { priority: 2, readyAt: 2 * AGEING_MS + 1 }), low], 1).names).toEqual(['low']);
  });
});

describe('between tenants', () => {
  const flood = Array.from({ length: 50 }, (_, i) => ready(`acme ${i}`, { priority: 2, readyAt: -1_000 - i }));
  const other = ready('globex', { tenantId: 'globex', priority: 0 });

  test('one with nothing in flight goes before a flood, whatever its priority', () => {
    const inFlight = [{ role: 'analyzer', tenantId: 'acme', workflow: 'review', steps: 1 }];
    expect(admit([...flood, other], 1, { inFlight }).names).toEqual(['globex']);
  });

  test('of equals the one after the last turn goes first, and the turn is kept', () => {
    const steps = ['a', 'b', 'c'].map((tenantId) => ready(tenantId, { tenantId }));
    const { names, turns } = admit(steps, 2, { turns: new Map([['analyzer', 'b']]) });
    expect(names).toEqual(['c', 'a']);
    expect(turns.get('analyzer')).toBe('a');
  });

  test('a tenant alone leaves the turn as it is', () => {
    expect(admit(flood, 3).turns.size).toBe(0);
  });
});

describe('limits', () => {
  test('a full tenant waits and holds up nobody; a full workflow lets the others of its tenant pass', () => {
    const limits = [
      { tenantId: 'acme', workflow: 'review', maxRunning: 1 },
      { tenantId: 'globex', workflow: '', maxRunning: 2 },
    ];
    const steps = [
      ...['a1', 'a2'].map((name) => ready(name)),
      ready('other', { workflow: 'import', readyAt: 5 }),
      ...['g1', 'g2'].map((name) => ready(name, { tenantId: 'globex', role: 'generator' })),
    ];
    const rooms = new Map([
      ['analyzer', 10],
      ['generator', 10],
    ]);
    const inFlight = [{ role: 'analyzer', tenantId: 'globex', workflow: 'x', steps: 1 }];
    expect(admit(steps, 10, { limits, rooms, inFlight }).names.sort()).toEqual(['a1', 'g1', 'other']);
  });

  test('a limit of one is shared by roles: whoever has waited longest', () => {
    const steps = [ready('late', { readyAt: 2 }), ready('early', { role: 'generator', readyAt: 1 })];
    const rooms = new Map([
      ['analyzer', 5],
      ['generator', 5],
    ]);
    const limits = [{ tenantId: 'acme', workflow: '', maxRunning: 1 }];
    expect(admit(steps, 5, { rooms, limits }).names).toEqual(['early']);
  });
});

const candidate = fc.record({
  role: fc.constantFrom('r1', 'r2'),
  tenantId: fc.constantFrom('t1', 't2', 't3'),
  workflow: fc.constantFrom('w1', 'w2'),
  priority: fc.integer({ min: 0, max: 2 }),
  readyAt: fc.integer({ min: 0, max: 5 * AGEING_MS }),
});
const world = fc.record({
  candidates: fc.array(candidate, { maxLength: 40 }).map((all) => all.map((one, i) => ({ ...one, name: String(i) }))),
  inFlight: fc.array(
    fc.record({
      role: fc.constantFrom('r1', 'r2'),
      tenantId: fc.constantFrom('t1', 't2', 't3'),
      workflow: fc.constantFrom('w1', 'w2'),
      steps: fc.integer({ min: 0, max: 5 }),
    }),
    { maxLength: 6 },
  ),
  rooms: fc
    .tuple(fc.integer({ min: -3, max: 20 }), fc.integer({ min: 0, max: 20 }))
    .map(([r1, r2]) => new Map(Object.entries({ r1, r2 }))),
  limits: fc.uniqueArray(
    fc.record({
      tenantId: fc.constantFrom('t1', 't2'),
      workflow: fc.constantFrom('', 'w1'),
      maxRunning: fc.integer({ min: 0, max: 8 }),
    }),
    { selector: ({ tenantId, workflow }) => `${tenantId} ${workflow}`, maxLength: 4 },
  ),
  turns: fc.constantFrom('t1', 't2', 't3').map((tenantId) => new Map([['r1', tenantId]])),
});

describe('whatever waits', () => {
  test('rooms and limits hold, nobody is let out twice, room is left only where nothing may go', () => {
    fc.assert(
      fc.property(world, (input) => {
        const { admitted } = decideAdmission<Named>(input);
        expect(new Set(admitted).size).toBe(admitted.length);
        const inRole = (role: string) => admitted.filter((one) => one.role === role).length;
        const running = (tenantId: string, workflow: string) =>
          [...input.inFlight, ...admitted.map((one) => ({ ...one, steps: 1 }))]
            .filter((load) => load.tenantId === tenantId && (workflow === '' || load.workflow === workflow))
            .reduce((sum, load) => sum + load.steps, 0);
        const isFull = (one: Candidate) =>
          input.limits.some(
            (limit) =>
              limit.tenantId === one.tenantId &&
              (limit.workflow === '' || limit.workflow === one.workflow) &&
              running(limit.tenantId, limit.workflow) >= limit.maxRunning,
          );
        for (const [role, room] of input.rooms) expect(inRole(role)).toBeLessThanOrEqual(Math.max(0, room));
        for (const { tenantId, workflow, maxRunning } of input.limits) {
          const before = input.inFlight
            .filter((load) => load.tenantId === tenantId && (workflow === '' || load.workflow === workflow))
            .reduce((sum, load) => sum + load.steps, 0);
          expect(running(tenantId, workflow)).toBeLessThanOrEqual(Math.max(maxRunning, before));
        }
        for (const left of input.candidates) {
          if (admitted.includes(left) || inRole(left.role) >= Math.max(0, input.rooms.get(left.role) ?? 0)) continue;
          expect(isFull(left)).toBe(true);
        }
      }),
    );
  });

  test('within tenant, role and workflow nobody is overtaken', () => {
    fc.assert(
      fc.property(world, (input) => {
        const { admitted } = decideAdmission<Named>(input);
        for (const out of admitted) {
          for (const left of input.candidates) {
            if (admitted.includes(left)) continue;
            if (left.role !== out.role || left.tenantId !== out.tenantId || left.workflow !== out.workflow) continue;
            expect(rankOf(left)).toBeGreaterThanOrEqual(rankOf(out));
          }
        }
      }),
    );
  });
});
