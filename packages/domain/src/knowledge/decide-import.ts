import { AppError, type CandidateOutcome, type FactImport } from '@cleanslate/contracts';
import { DEFAULT_SENSITIVE } from '../sensitive/index.ts';
import { cleanPeriod } from './clean-text.ts';
import { atLevelOf } from './decide-candidate.ts';
import { type ImportSource, toImportedBody } from './fact-body.ts';
import { findBlank } from './find-blank.ts';
import { overlaps, toValidRange } from './valid-range.ts';
import type { WriteDraft } from './write-draft.ts';

export type ImportOutcome = {
  readonly knowledgeId: string;
  readonly outcome: CandidateOutcome;
  /** Versions that now say what was imported. */
  readonly versions: readonly number[];
  readonly reason: string;
  readonly wave: number;
};

/**
 * Lays an imported set over what is believed, exactly as its periods say; periods it doesn't name stay. Throws
 * `INVALID_INPUT` or `FACT_OVERLAP` naming the field, before anything is decided. A lesser source doesn't displace what
 * a person confirmed: that fact's outcome is `disputed`.
 */
export function decideImport(
  draft: WriteDraft,
  tenantId: string,
  facts: readonly FactImport[],
  source: ImportSource,
): ImportOutcome[] {
  const stated = checkImport(facts);
  return facts.map((fact, index) => {
    const state = draft.find(tenantId, fact.knowledgeId);
    const { believed } = state;
    const periods = fact.periods.map((period, at) => ({
      valid: stated[index]?.[at] ?? toValidRange(period.validFrom, period.validUntil, 'period'),
      body: atLevelOf(state, toImportedBody(fact, period, source)),
    }));
    const protectedVersions = believed.filter(
      (version) =>
        source.sourceType !== 'human_confirmed' &&
        version.body.lineage.trust === 'human_confirmed' &&
        periods.some(
          ({ valid, body }) => overlaps(valid, version.valid) && body.contentHash !== version.body.contentHash,
        ),
    );
    if (protectedVersions.length > 0) {
      const versions = protectedVersions.map(({ version }) => version);
      const reason = 'a person confirmed the incumbent';
      return { knowledgeId: fact.knowledgeId, outcome: 'disputed' as const, versions, reason, wave: -1 };
    }
    const write = draft.write(tenantId, fact.knowledgeId, periods, (a, b) => a.contentHash === b.contentHash);
    return {
      knowledgeId: fact.knowledgeId,
      outcome: write.outcome,
      versions: write.holding,
      reason: 'imported',
      wave: write.wave,
    };
  });
}

/** Valid ranges of each fact's periods. Throws what `decideImport` throws. */
export function checkImport(facts: readonly FactImport[]) {
  const seen = new Map<string, number>();
  return facts.map((fact, index) => {
    const first = seen.get(fact.knowledgeId);
    if (first !== undefined) {
      throw new AppError(
        'INVALID_INPUT',
        `facts.${index}.knowledgeId: "${fact.knowledgeId}" stands at facts.${first} already: put all its periods into one fact`,
        { details: { field: `facts.${index}.knowledgeId` } },
      );
    }
    seen.set(fact.knowledgeId, index);
    return checkPeriods(fact, index);
  });
}

function checkPeriods(fact: FactImport, index: number) {
  fact.periods.forEach((period, at) => {
    const blank = findBlank({ ...fact, statement: period.statement });
    if (blank !== null) {
      const field = blank === 'statement' ? `facts.${index}.periods.${at}.statement` : `facts.${index}.${blank}`;
      throw new AppError(
        'INVALID_INPUT',
        `${field} of "${fact.knowledgeId}" is blank: write what it says, or leave the fact out`,
        {
          details: { field },
        },
      );
    }
    const { refused } = cleanPeriod(period, fact.unit, DEFAULT_SENSITIVE);
    if (refused.length === 0) return;
    const field = `facts.${index}.periods.${at}`;
    throw new AppError(
      'INVALID_INPUT',
      `${field} of "${fact.knowledgeId}" holds a ${refused.join(', ')}: take it out`,
      {
        details: { field, kinds: refused },
      },
    );
  });
  const ranges = fact.periods.map((period, at) =>
    toValidRange(period.validFrom, period.validUntil, `facts.${index}.periods.${at}`),
  );
  ranges.forEach((range, at) => {
    const other = ranges.findIndex((earlier, before) => before < at && overlaps(earlier, range));
    if (other === -1) return;
    const field = `facts.${index}.periods.${at}`;
    throw new AppError(
      'FACT_OVERLAP',
      `${field} of "${fact.knowledgeId}" overlaps with facts.${index}.periods.${other}: end one where the other begins`,
      { details: { field, overlapsWith: `facts.${index}.periods.${other}`, knowledgeId: fact.knowledgeId } },
    );
  });
  return ranges;
}
