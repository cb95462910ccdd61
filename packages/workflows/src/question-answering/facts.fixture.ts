import { readFileSync } from 'node:fs';
import type { FactView } from '@cleanslate/contracts';
import { intersect, planQuestion, planWhole, weightOf } from '@cleanslate/domain';
import { parsePolicySet } from '../policy-set/parse-policy-set.ts';
import { analyzeQuestion } from './analyze-question.ts';
import { type FoundSubGoal, resolveQuestion } from './answer-sub-goal.ts';
import { toFoundFact } from './found-fact.ts';
import { generateAnswer } from './generate-answer.ts';
import type { FoundFact } from './schemas.ts';

export const PIN = { validAt: '2026-11-01T00:00:00.000Z', revision: 7 };
const NOW = Date.parse(PIN.validAt);
const PROVIDER = { kind: 'offline', model: 'offline' } as const;

/** The facts of sample sets, as a search would give them. */
export function factsOf(...sets: readonly string[]): readonly FoundFact[] {
  return sets.flatMap((name) => {
    const file = new URL(`../../../../infra/samples/questions-${name}.yaml`, import.meta.url);
    const { facts, sourceType, sourceRef } = parsePolicySet(readFileSync(file, 'utf8'));
    return facts.flatMap(({ knowledgeId, periods, ...fact }) =>
      periods.map(({ value, statement, validFrom, validUntil }, index) => {
        const { subject, predicate, unit, polarity, modality, knowledgeType, tags } = fact;
        const view: FactView = {
          tenantId: 'acme',
          knowledgeId,
          version: index + 1,
          statement,
          knowledgeType,
          layer: 'core',
          tags,
          assertion: { subject, predicate, value, unit, polarity, modality },
          sourceType,
          sourceRef,
          weight: weightOf(sourceType),
          confidence: 1,
          importance: 1,
          accessLevel: 'internal',
          sensitivity: 'none',
          contentHash: 'a'.repeat(64),
          validFrom,
          validUntil,
          revisionFrom: 1,
          revisionUntil: null,
        };
        return toFoundFact(view, 0.5, [], 'internal');
      }),
    );
  });
}

/** A statement that nobody gave a subject and a predicate. */
export function plainFact(knowledgeId: string, statement: string): FoundFact {
  return {
    fact: `${knowledgeId}@1`,
    statement,
    assertion: null,
    knowledgeType: 'other',
    layer: 'core',
    weight: 1,
    sourceType: 'human_confirmed',
    sourceRef: 'note',
    accessLevel: 'internal',
    validFrom: null,
    validUntil: null,
    score: 0.5,
    suspicious: false,
    challengers: [],
  };
}

/** A question taken through planning, a search that misses nothing, analysis and answer. */
export function answerFrom(question: string, facts: readonly FoundFact[]) {
  const context = { validAt: PIN.validAt, accessLevel: 'internal' } as const;
  const planned = planQuestion(question, context) ?? planWhole(question, context);
  const found: FoundSubGoal[] = [];
  for (const goal of planned.subGoals) {
    const subGoal = { ...goal, needs: [...goal.needs], channels: [...goal.channels] };
    const resolved = resolveQuestion(goal.question, found, NOW);
    const period = goal.period ?? { from: PIN.validAt, until: new Date(NOW + 1).toISOString() };
    const held = facts.filter(({ validFrom, validUntil }) => intersect(period, { from: validFrom, until: validUntil }));
    found.push({
      subGoal,
      output: { question: resolved, facts: resolved === null ? [] : held, channels: ['words'], unreachable: [] },
    });
  }
  const analysis = analyzeQuestion({ found, extra: [], now: NOW, provider: PROVIDER });
  const subGoals = found.map(({ subGoal }) => subGoal);
  const { language, kind, confidence } = planned;
  const plan = { language, kind, confidence, by: 'template', provider: PROVIDER } as const;
  const answer = generateAnswer(analysis, { question, pin: PIN, plan, subGoals });
  return { answer, found, subGoals, analysis };
}
