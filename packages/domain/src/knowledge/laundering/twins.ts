import type { LaunderAction, LaunderProposal, SourceType } from '@cleanslate/contracts';
import { weightOf } from '../trust.ts';
import { overlaps, type ValidRange } from '../valid-range.ts';

/** A believed version of one of several facts that have the same key or signature. */
export type TwinVersion = {
  readonly knowledgeId: string;
  readonly version: number;
  readonly signature: string;
  readonly trust: SourceType;
  readonly valid: ValidRange;
  /** When it was written; in milliseconds. */
  readonly writtenAt: number;
};
export type Findings = { readonly actions: readonly LaunderAction[]; readonly proposals: readonly LaunderProposal[] };

/**
 * Two facts that say the same. The more trusted one is kept, the older one among equals. The other is archived if it
 * adds nothing: it holds only while the kept one does, and no person stated it. Otherwise a person is asked. `group`:
 * versions with one signature.
 */
export function judgeDuplicates(group: readonly TwinVersion[]): Findings {
  const actions: LaunderAction[] = [];
  const proposals: LaunderProposal[] = [];
  const order = [...group].sort(compareStanding);
  const gone = new Set<TwinVersion>();
  for (const [index, kept] of order.entries()) {
    if (gone.has(kept)) continue;
    for (const other of order.slice(index + 1)) {
      if (gone.has(other) || other.knowledgeId === kept.knowledgeId || !overlaps(kept.valid, other.valid)) continue;
      if (other.trust !== 'human_confirmed' && holds(kept.valid, other.valid)) {
        gone.add(other);
        actions.push({ action: 'merge', fact: refOf(other), into: refOf(kept) });
      } else {
        const detail = holds(kept.valid, other.valid) ? 'both were stated by people' : 'their periods only overlap';
        proposals.push({ proposal: 'duplicate', fact: refOf(other), other: refOf(kept), detail });
      }
    }
  }
  return { actions, proposals };
}

/**
 * Facts about the same subject and predicate that say different things for the same time. Nothing is decided: if an
 * agent wrote one side, a dispute is opened against the more trusted one; if people said both, they may have meant two
 * things, and it is only proposed to them. `settled`: pairs that a person has decided.
 */
export function judgeContradictions(
  group: readonly TwinVersion[],
  settled: (incumbent: TwinVersion, challenger: TwinVersion) => boolean,
): Findings {
  const actions: LaunderAction[] = [];
  const proposals: LaunderProposal[] = [];
  const order = [...group].sort(compareStanding);
  // Raised by two challengers, it is one question.
  const asked = new Set<string>();
  for (const [index, incumbent] of order.entries()) {
    for (const challenger of order.slice(index + 1)) {
      const apart = challenger.knowledgeId === incumbent.knowledgeId || !overlaps(incumbent.valid, challenger.valid);
      if (apart || challenger.signature === incumbent.signature || settled(incumbent, challenger)) continue;
      const question = `${incumbent.knowledgeId} ${challenger.signature}`;
      const pair = { fact: refOf(incumbent), challenger: refOf(challenger) };
      if (challenger.trust !== 'human_confirmed') {
        if (!asked.has(question)) actions.push({ action: 'dispute', ...pair });
        asked.add(question);
      } else
        proposals.push({
          proposal: 'contradiction',
          fact: pair.fact,
          other: pair.challenger,
          detail: 'people said both about the same subject and predicate',
        });
    }
  }
  return { actions, proposals };
}

export function refOf({ knowledgeId, version }: Pick<TwinVersion, 'knowledgeId' | 'version'>): string {
  return `${knowledgeId}@${version}`;
}

/** The more trusted first, the older among equals; ids and versions decide the rest. */
function compareStanding(a: TwinVersion, b: TwinVersion): number {
  return (
    weightOf(b.trust) - weightOf(a.trust) ||
    a.writtenAt - b.writtenAt ||
    (a.knowledgeId < b.knowledgeId ? -1 : a.knowledgeId > b.knowledgeId ? 1 : a.version - b.version)
  );
}

function holds(outer: ValidRange, inner: ValidRange): boolean {
  return outer.from <= inner.from && inner.until <= outer.until;
}
