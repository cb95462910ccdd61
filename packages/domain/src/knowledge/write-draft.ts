import { type BelievedVersion, decideFactWrite, type FactWrite, type StatedPeriod } from './decide-fact-write.ts';
import { decideRetraction } from './decide-retraction.ts';
import type { FactBody } from './fact-body.ts';
import type { ValidRange } from './valid-range.ts';

/** What is believed about one fact of one tenant. */
export type FactState = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly nextVersion: number;
  readonly believed: readonly BelievedVersion<FactBody>[];
  /** The present weight of versions, by number; all others still have their source's weight. */
  readonly weights: ReadonlyMap<number, number>;
};

/**
 * A version to insert. Waves number the revisions of one batch from 0: if a batch says two things about one fact, the
 * second is written one revision later, so that history has both. `untilWave` is set if a later wave of the same batch
 * ends the belief again.
 */
export type DraftVersion = BelievedVersion<FactBody> & {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly remainderOf: number | null;
  readonly wave: number;
  readonly untilWave: number | null;
};
export type DraftClosing = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly version: number;
  readonly wave: number;
};

/** A write with the wave that carries it. */
type DraftWrite = FactWrite<FactBody> & { readonly wave: number };
type Draft = { state: FactState; lastWave: number; versions: DraftVersion[]; closings: DraftClosing[] };

/** The facts of a batch while it is being decided: each decision sees what the ones before it wrote. */
export class WriteDraft {
  readonly #facts = new Map<string, Draft>();
  readonly #keys = new Map<string, Set<string>>();

  constructor(states: readonly FactState[]) {
    for (const state of states) this.#track({ state, lastWave: -1, versions: [], closings: [] });
  }

  /** The fact as the batch has left it so far; without versions if it is new. */
  find(tenantId: string, knowledgeId: string): FactState {
    const known = this.#facts.get(factId(tenantId, knowledgeId))?.state;
    return known ?? { tenantId, knowledgeId, nextVersion: 1, believed: [], weights: new Map() };
  }

  /** Facts of which a believed version has this key, in order of id. */
  findByKey(tenantId: string, factKey: string): FactState[] {
    return this.#findIndexed(factId(tenantId, factKey));
  }

  /** Facts without an assertion of which a believed version has this signature. */
  findBySignature(tenantId: string, signature: string): FactState[] {
    return this.#findIndexed(factId(tenantId, signature));
  }

  /** Decides and applies one write. Returns it with its wave, -1 if nothing had to be written. */
  write(
    tenantId: string,
    knowledgeId: string,
    periods: readonly StatedPeriod<FactBody>[],
    same: (a: FactBody, b: FactBody) => boolean,
  ): DraftWrite {
    return this.#apply(tenantId, knowledgeId, (state) =>
      decideFactWrite(state.believed, state.nextVersion, periods, same),
    );
  }

  /** Decides and applies a retraction. Returns it with its wave, -1 if nothing was believed there. */
  retract(
    tenantId: string,
    knowledgeId: string,
    range: ValidRange,
    selected?: (version: BelievedVersion<FactBody>) => boolean,
  ): DraftWrite {
    return this.#apply(tenantId, knowledgeId, (state) =>
      decideRetraction(state.believed, state.nextVersion, range, selected),
    );
  }

  #apply(tenantId: string, knowledgeId: string, decide: (state: FactState) => FactWrite<FactBody>): DraftWrite {
    const id = factId(tenantId, knowledgeId);
    const draft = this.#facts.get(id) ?? {
      state: this.find(tenantId, knowledgeId),
      lastWave: -1,
      versions: [],
      closings: [],
    };
    const write = decide(draft.state);
    if (write.asserted.length === 0 && write.closed.length === 0) return { ...write, wave: -1 };
    const wave = draft.lastWave + 1;
    this.#track(advance(draft, write, wave));
    return { ...write, wave };
  }

  get versions(): DraftVersion[] {
    return [...this.#facts.values()].flatMap(({ versions }) => versions);
  }

  /** Versions that were believed before this batch and no longer are. */
  get closings(): DraftClosing[] {
    return [...this.#facts.values()].flatMap(({ closings }) => closings);
  }

  /** How many revisions the batch takes. */
  get waves(): number {
    return [...this.#facts.values()].reduce((most, { lastWave }) => Math.max(most, lastWave + 1), 0);
  }

  #track(draft: Draft): void {
    const { tenantId, knowledgeId, believed } = draft.state;
    this.#facts.set(factId(tenantId, knowledgeId), draft);
    for (const { body } of believed) {
      const key = factId(tenantId, body.factKey ?? body.signature);
      const ids = this.#keys.get(key) ?? new Set();
      this.#keys.set(key, ids.add(knowledgeId));
    }
  }

  #findIndexed(key: string): FactState[] {
    const tenantId = key.slice(0, key.indexOf('/'));
    const wanted = key.slice(tenantId.length + 1);
    return [...(this.#keys.get(key) ?? [])]
      .sort()
      .map((knowledgeId) => this.find(tenantId, knowledgeId))
      .filter(({ believed }) => believed.some(({ body }) => (body.factKey ?? body.signature) === wanted));
  }
}

function advance(draft: Draft, write: FactWrite<FactBody>, wave: number): Draft {
  const { tenantId, knowledgeId, nextVersion, believed, weights } = draft.state;
  const ended = new Set(write.closed);
  return {
    state: {
      tenantId,
      knowledgeId,
      nextVersion: nextVersion + write.asserted.length,
      believed: [...believed.filter(({ version }) => !ended.has(version)), ...write.asserted],
      weights: new Map([...weights, ...weightsOfRemainders(write, weights)]),
    },
    lastWave: wave,
    versions: [
      ...draft.versions.map((item) => (ended.has(item.version) ? { ...item, untilWave: wave } : item)),
      ...write.asserted.map((item) => ({ ...item, tenantId, knowledgeId, wave, untilWave: null })),
    ],
    closings: [
      ...draft.closings,
      ...write.closed
        .filter((version) => !draft.versions.some((item) => item.version === version))
        .map((version) => ({ tenantId, knowledgeId, version, wave })),
    ],
  };
}

/** The rest of a fact is still that fact, as `carryOver` keeps it. */
function weightsOfRemainders({ asserted }: FactWrite<FactBody>, weights: ReadonlyMap<number, number>) {
  return asserted.flatMap(({ version, remainderOf }) => {
    const weight = remainderOf === null ? undefined : weights.get(remainderOf);
    return weight === undefined ? [] : [[version, weight] as const];
  });
}

function factId(tenantId: string, id: string): string {
  return `${tenantId}/${id}`;
}
