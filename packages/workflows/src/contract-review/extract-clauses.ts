import { pageStarts } from '@cleanslate/documents';
import { CLAUSE_KINDS, type Clause, type ClauseKind } from './clause.ts';
import { isEmploymentAgreement } from './genre.ts';
import { KINDS } from './kinds/index.ts';
import { type Source, toQuoted } from './quoted.ts';
import type { Hit } from './rule.ts';
import { type Sentence, sentencesOf } from './sentence.ts';
import { suspiciousOf } from './suspicious.ts';

/** A line of a table of contents names clauses and states nothing: "12. Assignment ........ 14". */
const CONTENTS_LINE = /(?:\. ?){5,}\s?\d{0,3}\s?$|(?:…|·){3,}\s?\d{0,3}\s?$/;
const BILLED = /\binvoic\w+|\bbill(?:ed|ing|s)?\b|\bconsult\w+ fees?\b|发票/i;
const MAX_SUPPORTING = 5;
const LOOK_AHEAD = 3;
const MAX_JOINED = 4_000;

/** Kinds whose choice is a name: two of them contradict each other, where "negotiation, then courts" does not. */
const NAMED: ReadonlySet<ClauseKind> = new Set(['governing_law', 'ip_ownership']);

interface Located {
  readonly sentence: Sentence;
  readonly hit: Hit;
}

/** The clause is there, but what it fixes is elsewhere or nowhere. */
const UNSETTLED: ReadonlySet<string> = new Set(['formula', 'reference', 'blank', 'schedule']);

/** Scores run from 1 to about 15; what matters is that weak readings say so. */
function toConfidence(hit: Hit): number {
  const sure = Math.min(0.95, 0.6 + hit.score * 0.04);
  const open = UNSETTLED.has(hit.basis) ? 0.1 : 0;
  const doubtful = hit.notes.includes('numbers_disagree') ? 0.2 : 0;
  return Math.round((sure - open - doubtful) * 100) / 100;
}

function sameName(one: string, other: string): boolean {
  const [left, right] = [one.toLowerCase(), other.toLowerCase()];
  return left.includes(right) || right.includes(left);
}

function toClause(source: Source, kind: ClauseKind, located: readonly Located[]): Clause {
  const ranked = [...located].sort(
    (left, right) => right.hit.score - left.hit.score || left.sentence.span.start - right.sentence.span.start,
  );
  const [primary, ...others] = ranked;
  if (primary === undefined) return { kind, present: false, confidence: 0.8 };
  const { score: _score, ...reading } = primary.hit;
  const differs = others.some(
    ({ hit }) =>
      (hit.value !== null &&
        reading.value !== null &&
        (hit.value !== reading.value || hit.unit !== reading.unit || hit.per !== reading.per)) ||
      (NAMED.has(kind) && hit.choice !== null && reading.choice !== null && !sameName(hit.choice, reading.choice)),
  );
  return {
    kind,
    present: true,
    ...toQuoted(source, primary.sentence.span),
    ...reading,
    notes: differs ? [...reading.notes, 'other_values_elsewhere'] : reading.notes,
    confidence: toConfidence(primary.hit),
    supporting: others.slice(0, MAX_SUPPORTING).map(({ sentence }) => toQuoted(source, sentence.span)),
  };
}

/**
 * "For a period of ninety days after delivery:" says what it is about in the next sentence
 * only, so the two are read as one.
 */
function withList(sentence: Sentence, next: Sentence | undefined): Sentence {
  const leads = next !== undefined && /[:-]$/.test(sentence.plain) && sentence.plain.length > 20;
  if (!leads || sentence.heading === sentence.plain || next.span.end - sentence.span.start > MAX_JOINED)
    return sentence;
  const plain = `${sentence.plain} ${next.plain}`;
  return { ...sentence, plain, span: { start: sentence.span.start, end: next.span.end } };
}

/**
 * Finds each kind of clause in a contract's text; a kind that is not there is a result too.
 * One result per kind, in order.
 */
export function extractClauses(text: string): Clause[] {
  const all = [...sentencesOf(text)];
  // A sentence that addresses a machine is not a clause between parties.
  const suspicious = suspiciousOf(text, all);
  const sentences = all.filter((sentence) => !suspicious.has(sentence));
  const employment = isEmploymentAgreement(text);
  const found = new Map<ClauseKind, Located[]>(CLAUSE_KINDS.map((kind) => [kind, []]));
  sentences.forEach((raw, index) => {
    if (CONTENTS_LINE.test(raw.plain)) return;
    const sentence = withList(raw, sentences[index + 1]);
    const next = sentences.slice(index + 1, index + 1 + LOOK_AHEAD);
    for (const kind of CLAUSE_KINDS) {
      const { about, en, zh } = KINDS[kind];
      if (!about.test(sentence.plain)) continue;
      const hit = (sentence.chinese ? zh : en)(sentence, next);
      const isPay = employment && kind === 'payment_term' && !BILLED.test(sentence.plain);
      if (hit !== null && !isPay) found.get(kind)?.push({ sentence, hit });
    }
  });
  const source = { text, pages: pageStarts(text) };
  return CLAUSE_KINDS.map((kind) => toClause(source, kind, found.get(kind) ?? []));
}
