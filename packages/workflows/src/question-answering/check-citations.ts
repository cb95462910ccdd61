import { AccessLevel, type VerdictReason } from '@cleanslate/contracts';
import { type Asked, figuresOf, type Interval, intersect } from '@cleanslate/domain';
import { toQuery } from './answer-sub-goal.ts';
import type { CheckAnswerInput, JudgedAnswer } from './check-answer.ts';
import type { Answer, FoundFact } from './schemas.ts';
import { toRange } from './settle-topic.ts';

type Cited = { readonly fact: string; readonly path: string; readonly subGoal: string };

/** Every fact version that is named as evidence, with the place that names it. */
function citedIn({ statements, disputes }: Answer): readonly Cited[] {
  return [
    ...statements.flatMap((each, i) =>
      each.kind === 'quote'
        ? [{ fact: each.fact, path: `statements.${i}.fact`, subGoal: each.subGoal }]
        : (['left', 'right'] as const).map((side) => ({ ...each[side], path: `statements.${i}.${side}.fact` })),
    ),
    ...disputes.flatMap(({ sides, subGoal }, i) =>
      sides.flatMap(({ fact }, k) => (fact === null ? [] : [{ fact, path: `disputes.${i}.sides.${k}.fact`, subGoal }])),
    ),
  ];
}

export function checkCitations({ answer, input }: JudgedAnswer): Asked {
  const cited = citedIn(answer);
  return {
    reasons: cited.flatMap((each) => checkCited(each, input)),
    detail: `${cited.length} citations are facts of this tenant that hold at the time they speak of.`,
  };
}

function checkCited({ fact, path, subGoal }: Cited, input: CheckAnswerInput): VerdictReason[] {
  const own = input.facts.find((each) => each.fact === fact);
  const evidence = input.subGoals.find(({ id }) => id === subGoal)?.question;
  if (own === undefined) {
    const message = `${fact} is not believed at revision ${input.pin.revision}, or not known to this tenant.`;
    return [
      {
        code: 'FACT_UNKNOWN',
        path,
        message,
        remedy: 'Cite a fact version that was found.',
        ...(evidence === undefined ? {} : { evidence: toQuery(evidence) }),
      },
    ];
  }
  const goal = input.subGoals.find(({ id }) => id === subGoal);
  if (goal !== undefined && levelOf(own) > levelOf(goal)) {
    const message = `${fact} is ${own.accessLevel}; what was asked for may read up to ${goal.accessLevel}.`;
    return [{ code: 'ABOVE_ACCESS_LEVEL', path, message, remedy: 'Leave it out.' }];
  }
  const asked = periodOf(subGoal, input);
  if (intersect(asked, toRange(own)) !== null) return [];
  const message = `${fact} holds from ${own.validFrom ?? 'always'} to ${own.validUntil ?? 'further notice'}, which is not when it is asked about.`;
  return [{ code: 'FACT_NOT_VALID_AT_PIN', path, message, remedy: 'Cite the version that holds then.' }];
}

function levelOf({ accessLevel }: Pick<FoundFact, 'accessLevel'>): number {
  return AccessLevel.options.indexOf(accessLevel);
}

/** The period that a sub-goal asks about; without one the moment of the pin. */
export function periodOf(subGoal: string, { subGoals, pin }: Pick<CheckAnswerInput, 'subGoals' | 'pin'>): Interval {
  const until = new Date(Date.parse(pin.validAt) + 1).toISOString();
  return subGoals.find(({ id }) => id === subGoal)?.period ?? { from: pin.validAt, until };
}

export function checkQuotes({ answer, input }: JudgedAnswer): Asked {
  const reasons: VerdictReason[] = [];
  const differs = (path: string, fact: FoundFact, remedy: string) =>
    reasons.push({ code: 'QUOTE_DIFFERS', path, message: `${path} is not what ${fact.fact} says.`, remedy });
  let looked = 0;
  for (const [i, statement] of answer.statements.entries()) {
    if (statement.kind !== 'quote') continue;
    const own = input.facts.find(({ fact }) => fact === statement.fact);
    if (own === undefined) continue;
    looked += 1;
    const at = `statements.${i}`;
    if (statement.quote !== own.statement) differs(`${at}.quote`, own, 'Quote the fact letter by letter.');
    if (!hasValue(own, statement)) differs(`${at}.value`, own, 'State the value and unit that the fact has.');
    if (statement.validFrom !== own.validFrom || statement.validUntil !== own.validUntil)
      differs(`${at}.validFrom`, own, 'State when the fact holds as the fact has it.');
  }
  for (const [i, each] of answer.evidence.entries()) {
    const own = input.facts.find(({ fact }) => fact === each.fact);
    if (
      own !== undefined &&
      (each.statement !== own.statement || each.sourceRef !== own.sourceRef || each.sourceType !== own.sourceType)
    )
      differs(`evidence.${i}`, own, 'List the fact as it is.');
  }
  for (const [i, { sides }] of answer.disputes.entries())
    for (const [k, side] of sides.entries()) {
      const own = input.facts.find(({ fact }) => fact === side.fact);
      if (own !== undefined && side.statement !== own.statement)
        differs(`disputes.${i}.sides.${k}`, own, 'Quote the fact letter by letter.');
    }
  return { reasons, detail: `${looked} quotes stand in their facts letter by letter, with their values and dates.` };
}

/** A value is the fact's own, or a number that its statement has. */
function hasValue(
  { statement, assertion }: FoundFact,
  { value, unit }: Pick<Extract<Answer['statements'][number], { kind: 'quote' }>, 'value' | 'unit'>,
): boolean {
  if (value === null) return unit === null;
  if (assertion !== null && assertion.value === value && assertion.unit === unit) return true;
  return figuresOf(statement).some((figure) => figure.value === value && (figure.currency ?? figure.unit) === unit);
}
