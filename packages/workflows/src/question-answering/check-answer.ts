import { canonicalJson, issueWords, type Pin, type Verdict, type VerdictReason } from '@cleanslate/contracts';
import { type DefinedCheck, defineCheck, findForbiddenKey, toVerdict } from '@cleanslate/domain';
import { analyzeQuestion, type ExtraEvidence } from './analyze-question.ts';
import type { FoundSubGoal } from './answer-sub-goal.ts';
import { checkCitations, checkQuotes } from './check-citations.ts';
import { checkComplete, checkDisputes, checkSearched } from './check-complete.ts';
import { checkComparisons, checkFitting, checkVerdicts } from './check-fitting.ts';
import { generateAnswer } from './generate-answer.ts';
import { renderAnswer, renderAnswerAsBefore } from './render-answer.ts';
import { Answer, type FoundFact, type QuestionAnalysis, type SubGoalRecord } from './schemas.ts';

export type CheckAnswerInput = {
  readonly question: string;
  readonly pin: Pin;
  /** As the planner gave them, and the scheduler checked. */
  readonly subGoals: readonly SubGoalRecord[];
  /** What the searches found, each fact as the validator itself read it. */
  readonly found: readonly FoundSubGoal[];
  readonly extra: readonly ExtraEvidence[];
  /**
   * Cited versions, and all about the same subject, as the validator itself read them: those that are believed at the
   * pin's revision.
   */
  readonly facts: readonly FoundFact[];
  /** The result to be judged; nothing in it is believed. */
  readonly answer: unknown;
};

export type JudgedAnswer = {
  readonly answer: Answer;
  /** What the rules make of the validator's own copies. */
  readonly own: QuestionAnalysis;
  readonly input: CheckAnswerInput;
};

const FACTS = 'the fact versions, read by the validator itself';
const FOUND = 'what the searches found, with each fact read anew';

/** The questions that could prove an answer wrong. */
export const ANSWER_CHECKLIST: readonly DefinedCheck<JudgedAnswer>[] = [
  defineCheck({
    check: 'subject',
    question: 'Is it an answer to another question, at another pin, or by other sub-goals than were planned?',
    evidenceRequired: "the task's question and pin, the planner's sub-goals",
    fatal: true,
    ask: ({ answer, input }: JudgedAnswer) => ({
      reasons: [
        ...(answer.question === input.question ? [] : [other('question', 'Answer the question of the task.')]),
        ...(same(answer.pin, input.pin) ? [] : [other('pin', 'Read the knowledge at the pin of the task.')]),
        ...(same(answer.plan.subGoals, input.subGoals) ? [] : [other('plan.subGoals', 'Answer what was planned.')]),
      ],
      detail: 'It answers the question of the task at its pin, as planned.',
    }),
  }),
  defineCheck({
    check: 'citations',
    question: 'Does a statement cite a fact version that is unknown here, or does not hold at the time it speaks of?',
    evidenceRequired: FACTS,
    ask: checkCitations,
  }),
  defineCheck({
    check: 'quotes',
    question: 'Is a quote, a value or a date of validity other than the cited fact has it?',
    evidenceRequired: FACTS,
    ask: checkQuotes,
  }),
  defineCheck({
    check: 'fitting',
    question: 'Does a cited fact answer something else than what was asked?',
    evidenceRequired: FACTS,
    ask: checkFitting,
  }),
  defineCheck({
    check: 'polarity',
    question: 'Does a yes or no turn the polarity or the modality of its fact?',
    evidenceRequired: FACTS,
    ask: checkVerdicts,
  }),
  defineCheck({
    check: 'comparisons',
    question: 'Does comparing the cited values anew give another relation or difference?',
    evidenceRequired: FACTS,
    ask: checkComparisons,
  }),
  defineCheck({
    check: 'sources',
    question: 'Does a source say otherwise, and the answer is silent about it?',
    evidenceRequired: FACTS,
    ask: checkDisputes,
  }),
  defineCheck({
    check: 'complete',
    question: 'Is something left out that the evidence answers, or a part of the period passed over?',
    evidenceRequired: FOUND,
    ask: checkComplete,
  }),
  defineCheck({
    check: 'searched',
    question: 'Is something called unknown that was not yet looked for by every channel?',
    evidenceRequired: FOUND,
    ask: checkSearched,
  }),
  defineCheck({
    check: 'markdown',
    question: 'Does the answer for people, or its outcome, say anything that the fields do not?',
    evidenceRequired: 'the fields of the answer',
    ask: ({ answer, own, input }: JudgedAnswer) => checkRendering(answer, own, input),
  }),
];

/**
 * Asks everything that could prove an answer wrong. The decision rests on these checks alone; text inside the
 * answer can't argue with them.
 */
export function checkAnswer(input: CheckAnswerInput): Verdict {
  const detail = 'Every key and enumerated value is one that the schema names.';
  const forbidden = findForbiddenKey(input.answer);
  const parsed = Answer.safeParse(input.answer);
  const reasons: VerdictReason[] =
    forbidden !== null
      ? [
          {
            code: 'FORBIDDEN_KEY',
            path: forbidden,
            message: `The answer carries "${forbidden}".`,
            remedy: 'Report statements only; how they were reached stays with the agent.',
          },
        ]
      : (parsed.error?.issues ?? []).slice(0, 20).map((issue) => ({
          code: 'SCHEMA_INVALID',
          path: issue.path.join('.'),
          message: `${issue.path.join('.') || 'answer'}: ${issueWords(issue)}.`,
          remedy: 'Return the answer exactly as its schema says.',
        }));
  const schema = { check: 'schema', detail, reasons };
  if (reasons.length > 0 || !parsed.success) return toVerdict([schema]);
  const { found, extra, pin } = input;
  const own = analyzeQuestion({ found, extra, now: Date.parse(pin.validAt), provider: parsed.data.provider });
  return toVerdict([schema, ...ANSWER_CHECKLIST.map(({ ask }) => ask({ answer: parsed.data, own, input }))]);
}

function checkRendering(answer: Answer, own: QuestionAnalysis, { subGoals, question, pin }: CheckAnswerInput) {
  const { markdown, ...fields } = answer;
  const { statements, missing, disputes, evidence } = answer;
  const anew = generateAnswer(
    { ...own, statements, missing, disputes },
    { question, pin, plan: answer.plan, subGoals },
  );
  const reasons: VerdictReason[] = [];
  if (markdown !== renderAnswer(fields) && markdown !== renderAnswerAsBefore(fields))
    reasons.push({
      code: 'MARKDOWN_DIFFERS',
      path: 'markdown',
      message: 'The text for people is not what the fields say.',
      remedy: 'Render it from the fields.',
    });
  if (answer.outcome !== anew.outcome)
    reasons.push({
      code: 'WRONG_OUTCOME',
      path: 'outcome',
      message: `The outcome is ${answer.outcome}, its statements say ${anew.outcome}.`,
      remedy: `Set it to ${anew.outcome}.`,
    });
  return {
    reasons,
    detail: `The text for people says what the fields say; ${evidence.length} fact versions are listed.`,
  };
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function other(path: string, remedy: string): VerdictReason {
  return { code: 'OTHER_SUBJECT', path, message: `${path} is not that of the task.`, remedy };
}
