import type { VerdictReason } from '@cleanslate/contracts';
import { canonicalJson } from '@cleanslate/contracts';
import { type Asked, intersect, SEARCH_CHANNELS } from '@cleanslate/domain';
import { isQueryFor, toQuery } from './answer-sub-goal.ts';
import type { CheckAnswerInput, JudgedAnswer } from './check-answer.ts';
import { periodOf } from './check-citations.ts';
import type { Dispute, Missing, QuotedAnswer } from './schemas.ts';
import { comparableStatement, groupByTopic, toRange } from './settle-topic.ts';

/** The sides of a dispute, whatever it is called. */
function sidesOf({ sides }: Dispute): string {
  return sides
    .map(({ fact, disputeId }) => fact ?? `#${disputeId}`)
    .sort()
    .join(' ');
}

export function checkDisputes({ answer, own, input }: JudgedAnswer): Asked {
  const shown = new Set(answer.disputes.map(sidesOf));
  const hidden = own.disputes.filter((dispute) => !shown.has(sidesOf(dispute)));
  const reasons: VerdictReason[] = hidden.map((dispute) => ({
    code: 'DISPUTE_HIDDEN',
    path: 'disputes',
    message: `On “${dispute.question}” ${sidesOf(dispute)} say different things, and the answer doesn't show it.`,
    remedy: 'Show all sides.',
  }));
  const known = new Set(own.disputes.map(sidesOf));
  for (const [i, dispute] of answer.disputes.entries())
    if (!known.has(sidesOf(dispute)))
      reasons.push({
        code: 'DISPUTE_MADE_UP',
        path: `disputes.${i}`,
        message: 'These sides do not contradict each other.',
        remedy: 'Leave it out.',
      });
  return {
    reasons: [
      ...reasons,
      ...findUnseen(
        answer.statements.filter((each) => each.kind === 'quote'),
        input,
      ),
    ],
    detail: `${own.disputes.length} disputes are shown with all sides.`,
  };
}

/**
 * A fact of the same subject that is in force then, says something else, and that no search found: it is searched for.
 */
function findUnseen(quotes: readonly QuotedAnswer[], input: CheckAnswerInput): VerdictReason[] {
  const seen = new Set(
    [...input.found, ...input.extra].flatMap(({ output }) => output.facts.map(({ fact }) => fact as string)),
  );
  return quotes.flatMap(({ fact, subGoal, question }, index) => {
    const topic = groupByTopic(input.facts).find((group) => group.some((each) => each.fact === fact)) ?? [];
    const own = topic.find((each) => each.fact === fact);
    const asked = periodOf(subGoal, input);
    const unseen = topic.find(
      (other) =>
        own !== undefined &&
        !seen.has(other.fact) &&
        comparableStatement(other) !== comparableStatement(own) &&
        intersect(toRange(other), toRange(own)) !== null &&
        intersect(toRange(other), asked) !== null,
    );
    if (unseen === undefined || wasAsked(question, input)) return [];
    const message = `${unseen.fact} speaks of the same as ${fact} and says otherwise; no search brought it up.`;
    return [
      {
        code: 'SOURCE_UNSEEN',
        path: `statements.${index}`,
        message,
        remedy: 'Search again and weigh both.',
        evidence: toQuery(question),
      },
    ];
  });
}

/** What the validator's own reading answers must not be called unknown, and what it can't answer must be. */
export function checkComplete({ answer, own }: JudgedAnswer): Asked {
  const reasons: VerdictReason[] = [];
  const answered = new Set(
    answer.statements.flatMap((each) => (each.kind === 'quote' ? [`${each.subGoal} ${each.fact}`] : [])),
  );
  for (const each of own.statements) {
    if (each.kind !== 'quote' || answered.has(`${each.subGoal} ${each.fact}`)) continue;
    const message = `${each.fact} answers “${each.question}” as well, and is left out.`;
    reasons.push({
      code: 'ANSWER_LEFT_OUT',
      path: 'statements',
      message,
      remedy: `State it: «${each.quote.slice(0, 300)}».`,
    });
  }
  const keyOf = ({ subGoal, why, period }: Missing) => canonicalJson({ subGoal, why, period });
  const said = new Set(answer.missing.map(keyOf));
  for (const each of own.missing) {
    if (said.has(keyOf(each))) continue;
    const message = `“${each.question}” is not known (${each.why}), and the answer doesn't say so.`;
    reasons.push({ code: 'GAP_HIDDEN', path: 'missing', message, remedy: 'Say what is not known.' });
  }
  if (canonicalJson(answer.unreachable) !== canonicalJson(own.unreachable)) {
    const message = `Sources that could not be asked: ${own.unreachable.map(({ source }) => source).join(', ') || 'none'}.`;
    reasons.push({
      code: 'SOURCE_HIDDEN',
      path: 'unreachable',
      message,
      remedy: 'List them as the searches have them.',
    });
  }
  const known = new Set(own.missing.map(keyOf));
  for (const [i, each] of answer.missing.entries())
    if (!known.has(keyOf(each)))
      reasons.push({
        code: 'GAP_MADE_UP',
        path: `missing.${i}`,
        message: `“${each.question}” is answered by what was found.`,
        remedy: 'State what was found.',
      });
  return {
    reasons,
    detail: `${own.statements.length} statements follow from what was found, and ${own.missing.length} gaps are said.`,
  };
}

/** "Not known" is said only after every channel was searched: what wasn't becomes the query of an added step. */
export function checkSearched({ answer, input }: JudgedAnswer): Asked {
  const open = answer.missing.filter(({ why }) => why === 'no_evidence');
  const reasons = open.flatMap(({ question, subGoal }, index): VerdictReason[] => {
    const search = input.found.find((each) => each.subGoal.id === subGoal);
    const whole = SEARCH_CHANNELS.every((channel) => search?.subGoal.channels.includes(channel));
    if (whole || wasAsked(question, input)) return [];
    const message = `“${question}” was looked for by its words alone.`;
    return [
      {
        code: 'EVIDENCE_MISSING',
        path: `missing.${index}`,
        message,
        remedy: 'Look for it by all channels.',
        evidence: toQuery(question),
      },
    ];
  });
  return { reasons, detail: `${open.length} unknowns were looked for by all channels.` };
}

function wasAsked(question: string, { extra }: CheckAnswerInput): boolean {
  return extra.some(({ query }) => isQueryFor(query, question));
}
