import { createHash } from 'node:crypto';
import { AnyTime, canonicalJson, FactRef, issueWords, KnowledgeId } from '@cleanslate/contracts';
import { readYaml } from '@cleanslate/documents';
import { z } from 'zod';
import { readBytes } from '../input/read-bytes.ts';

/** Numbers arrive as their literal text. */
const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `from ${least} to ${most}`);
const Pin = { validAt: AnyTime.optional(), revision: count(0, 999_999_999).optional(), knownAt: AnyTime.optional() };
const Top = count(1, 50).optional();
const Text = z.string().min(1).max(500);

const Question = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, "-" and "_"'),
    category: z.string().min(1).max(60),
    ask: z.string().min(1).max(8_000),
    ...Pin,
    /** Knowledge ids (or versions, `id@2`) that must be among the first `top` hits. */
    expect: z
      .array(z.union([FactRef, KnowledgeId]))
      .max(20)
      .default([]),
    /** Ids that must not be among them. */
    not: z.array(KnowledgeId).max(20).default([]),
    /** Value of the first expected fact, literally. */
    value: z.string().max(2_000).optional(),
    /** Texts that the answer of the question-answering workflow must contain. */
    answer: z.array(Text).max(20).optional(),
    top: Top,
  })
  .refine(({ expect, not, answer }) => expect.length + not.length + (answer?.length ?? 0) > 0, {
    message: 'says nothing that could fail: write expect, not or answer',
  });
export type Question = z.infer<typeof Question>;

const QuestionSet = z
  .strictObject({
    /** Defaults for questions. */
    defaults: z.strictObject({ ...Pin, top: Top }).default({}),
    /** Texts that were erased: they must turn up nowhere. */
    erased: z.array(Text).max(1_000).default([]),
    questions: z.array(Question).min(1).max(5_000),
  })
  .superRefine(({ questions }, context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of questions.entries()) {
      if (seen.has(id))
        context.addIssue({ code: 'custom', path: ['questions', index, 'id'], message: `"${id}" stands there twice` });
      seen.add(id);
    }
  });
export type QuestionSet = z.infer<typeof QuestionSet>;

/** Reads a set of questions. Throws `INVALID_INPUT` naming file, line, field and remedy, before anything is asked. */
export async function readQuestionSet(file: string): Promise<QuestionSet> {
  const yaml = readYaml(await readBytes(file, '<file>'), file, { holds: 'one set of questions', needs: 'questions' });
  const parsed = QuestionSet.safeParse(yaml.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((key) => (typeof key === 'symbol' ? String(key) : key));
  const what = issue === undefined ? 'has another form' : issueWords(issue, yaml.value);
  throw yaml.fault(path, what, 'see infra/samples/regress.yaml for the form');
}

/** Changes with everything that decides whether it passes: a reworded question has no baseline. */
export function fingerprintOf(question: Question, defaults: QuestionSet['defaults']): string {
  return createHash('sha256')
    .update(canonicalJson({ ...defaults, ...question }))
    .digest('hex')
    .slice(0, 16);
}
