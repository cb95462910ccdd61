import { type Candidate, DocumentRef, FactView, VerdictReason } from '@cleanslate/contracts';
import { SANITIZE_LEVELS } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { Analysis, reviewContract } from '@cleanslate/workflows';
import { z } from 'zod';
import { askModel } from './ask-model.ts';

/** Below this a reading is an opinion, not knowledge worth keeping. */
const MIN_CONFIDENCE = 0.9;

/**
 * Clauses and their comparison with the policy, by rules; if a model is configured, it is asked about what they did not
 * find. What the rules read with confidence is proposed as knowledge about this document.
 */
export function analyzeExecutor(): Executor {
  return defineExecutor({
    role: 'analyzer',
    name: 'contract-review/analyze',
    input: z.strictObject({
      document: DocumentRef,
      facts: z.array(FactView),
      feedback: z.array(VerdictReason).nullable(),
      /** Below `full` everything is applied, guesses included, to measure the effect. The validator knows no level. */
      sanitize: z.enum(SANITIZE_LEVELS).default('full'),
    }),
    output: z.strictObject({ analysis: Analysis }),
    run: async (ctx) => {
      const { input, documents, blackboard, progress } = ctx;
      const text = await documents.read(input.document);
      const byRules = reviewContract({ text, facts: input.facts, believeAll: input.sanitize !== 'full' });
      const analysis = await askModel(ctx, { text, facts: input.facts, analysis: byRules });
      progress(`${analysis.findings.length} findings, ${analysis.compliant.length} compliant`);
      for (const candidate of toCandidates(analysis, input.document)) await blackboard.propose(candidate);
      return { analysis };
    },
  });
}

/** Each clause that was found with a value: what this very document says. Identified by the document's content. */
function toCandidates(analysis: Analysis, document: DocumentRef): Candidate[] {
  return analysis.clauses.flatMap((clause): Candidate[] => {
    if (!clause.present || clause.value === null || clause.confidence < MIN_CONFIDENCE) return [];
    const unit = clause.currency ?? (clause.per === null ? clause.unit : `${clause.unit} per ${clause.per}`);
    const subject = `document.${document.sha256.slice(0, 16)}`;
    return [
      {
        statement: clause.quote,
        assertion: { subject, predicate: clause.kind, value: clause.value, unit, polarity: 'positive', modality: 'is' },
        knowledgeType: 'clause',
        layer: 'working',
        sourceType: 'internal_document',
        sourceRef: `sha256:${document.sha256}#${clause.span.start}-${clause.span.end}`,
        confidence: clause.confidence,
        importance: 0.5,
        derivedFrom: [],
        tags: ['contract-review'],
      },
    ];
  });
}
