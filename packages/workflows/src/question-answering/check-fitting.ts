import type { VerdictReason } from '@cleanslate/contracts';
import { canonicalJson } from '@cleanslate/contracts';
import type { Asked } from '@cleanslate/domain';
import { resolveQuestion } from './answer-sub-goal.ts';
import type { CheckAnswerInput, JudgedAnswer } from './check-answer.ts';
import { compareAnswers } from './compare-answers.ts';
import { matchFact } from './match-fact.ts';
import { needOf } from './question-need.ts';
import type { QuotedAnswer } from './schemas.ts';
import { withRivals } from './settle-topic.ts';
import { verdictOf } from './yes-or-no.ts';

/**
 * Each quote of the answer with the validator's own copy of its fact, and the question as the
 * validator itself resolves it.
 */
function quotesOf({ answer, input }: JudgedAnswer) {
  return answer.statements.flatMap((statement, index) => {
    if (statement.kind !== 'quote') return [];
    const own = input.facts.find(({ fact }) => fact === statement.fact);
    return own === undefined
      ? []
      : [{ statement, own, question: questionOf(statement, input), path: `statements.${index}` }];
  });
}

function questionOf({ subGoal }: QuotedAnswer, { subGoals, found, pin }: CheckAnswerInput): string | null {
  const planned = subGoals.find(({ id }) => id === subGoal);
  return planned === undefined ? null : resolveQuestion(planned.question, found, Date.parse(pin.validAt));
}

/** The nearest fact is not an answer: it must contain what the question is about. */
export function checkFitting(judged: JudgedAnswer): Asked {
  const quotes = quotesOf(judged);
  const reasons = quotes.flatMap(({ statement, own, question, path }): VerdictReason[] => {
    if (question !== statement.question) {
      const message = `It answers “${statement.question}”; asked was “${question ?? 'nothing of the plan'}”.`;
      return [
        {
          code: 'OTHER_QUESTION',
          path: `${path}.question`,
          message,
          remedy: 'Answer the sub-goal as it was resolved.',
        },
      ];
    }
    const need = needOf(question, judged.input.subGoals.find(({ id }) => id === statement.subGoal)?.period ?? null);
    const same = withRivals([own], judged.input.facts);
    if (same.some((each) => matchFact(each, need) !== null)) return [];
    const message = `${own.fact} does not hold everything that “${question}” is about.`;
    return [{ code: 'NOT_AN_ANSWER', path, message, remedy: 'Leave the statement out; say that it is not known.' }];
  });
  return { reasons, detail: `${quotes.length} quotes hold what their questions are about.` };
}

export function checkVerdicts(judged: JudgedAnswer): Asked {
  const quotes = quotesOf(judged);
  const reasons = quotes.flatMap(({ statement, own, path }): VerdictReason[] => {
    const verdict = needOf(statement.question).yesOrNo ? verdictOf(statement.question, own) : null;
    if (verdict === statement.verdict) return [];
    const message = `It says ${statement.verdict ?? 'neither yes nor no'}; ${own.fact} says ${verdict ?? 'neither'}.`;
    return [
      {
        code: 'POLARITY_TURNED',
        path: `${path}.verdict`,
        message,
        remedy: 'Say what polarity and modality of the fact say.',
      },
    ];
  });
  return { reasons, detail: `The sense of ${quotes.length} quotes is kept.` };
}

export function checkComparisons({ answer, input }: JudgedAnswer): Asked {
  const quotes = answer.statements.filter((each) => each.kind === 'quote');
  const compared = answer.statements.flatMap((each, index) => (each.kind === 'comparison' ? [{ each, index }] : []));
  const reasons = compared.flatMap(({ each, index }): VerdictReason[] => {
    const sideOf = (side: typeof each.left) =>
      quotes.find(({ fact, subGoal }) => fact === side.fact && subGoal === side.subGoal);
    const [left, right] = [sideOf(each.left), sideOf(each.right)];
    const anew = left === undefined || right === undefined ? null : compareAnswers(left, right);
    if (anew !== null && canonicalJson(anew) === canonicalJson(each)) return [];
    const message = 'Comparing the two quoted values anew does not give this.';
    return [
      { code: 'COMPARISON_WRONG', path: `statements.${index}`, message, remedy: 'Compare the values of the quotes.' },
    ];
  });
  return { reasons, detail: `${compared.length} comparisons of ${input.subGoals.length} sub-goals come out the same.` };
}
