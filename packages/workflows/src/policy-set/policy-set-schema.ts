import {
  AnyTime,
  FactImport,
  issueWords,
  KnowledgeId,
  KnowledgeType,
  Modality,
  Polarity,
  SourceType,
} from '@cleanslate/contracts';
import { z } from 'zod';

const { subject, predicate, unit, tags } = FactImport.shape;
const { value, statement } = FactImport.shape.periods.element.shape;
const time = AnyTime.nullable().default(null);

const head = {
  id: KnowledgeId,
  subject,
  predicate,
  unit: unit.default(null),
  polarity: Polarity.default('positive'),
  modality: Modality,
  knowledgeType: KnowledgeType.default('rule'),
  tags: tags.default([]),
};
const period = z.strictObject({ value, statement, validFrom: time, validUntil: time });
const FactWithPeriods = z.strictObject({ ...head, periods: z.array(period).min(1).max(200) });
const FactOfOnePeriod = z.strictObject({ ...head, ...period.shape });

/** A fact of the file: `periods`, or the keys of a single period beside the fact's own. */
const PolicyFact = z.unknown().transform((given, context) => {
  const severalPeriods = typeof given === 'object' && given !== null && 'periods' in given;
  const parsed = (severalPeriods ? FactWithPeriods : FactOfOnePeriod).safeParse(given);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const message = issueWords(issue, given);
    context.addIssue({ code: 'custom', message, path: [...issue.path], params: { code: issue.code } });
  }
  return z.NEVER;
});

export const PolicySetFile = z.strictObject({
  policySet: z.strictObject({
    name: z.string().min(1).max(200),
    /** Where the statements come from; readers see it as `sourceRef`. */
    source: z.string().min(1).max(500),
    /** Whoever imports a set vouches for it. */
    sourceType: SourceType.default('human_confirmed'),
  }),
  facts: z.array(PolicyFact).min(1).max(2_000),
});
export type PolicySetFile = z.infer<typeof PolicySetFile>;
