import { figuresOf } from '@cleanslate/domain';
import { type QuestionNeed, sortOf } from './question-need.ts';
import type { FoundFact, QuotedAnswer } from './schemas.ts';

/** The value in the fact's own form, otherwise the first number of the requested sort. */
export function readValue(
  { statement, assertion }: FoundFact,
  need: QuestionNeed,
): Pick<QuotedAnswer, 'value' | 'unit'> {
  if (assertion !== null && !/^(?:true|false|yes|no)$/i.test(assertion.value))
    return { value: assertion.value, unit: assertion.unit };
  const figures = figuresOf(statement);
  const figure = figures.find((each) => sortOf(each) === need.sort) ?? (need.numberRequired ? figures[0] : undefined);
  return figure === undefined
    ? { value: null, unit: null }
    : { value: figure.value, unit: figure.currency ?? figure.unit };
}
