import { canonicalJson, issueWords } from '@cleanslate/contracts';
import type { z } from 'zod';
import { findJson } from './find-json.ts';
import { defuseUrls } from './urls.ts';

export type ReadAnswer<T> =
  | { readonly ok: true; readonly value: T }
  /** For the model that is asked once more, and for the error: what was wrong and what is allowed. */
  | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 10;

/**
 * The one value in an answer that the schema accepts. Two different ones count as none: it is unknown which was meant.
 */
export function readAnswer<T>(content: string, schema: z.ZodType<T>, vouched: readonly string[]): ReadAnswer<T> {
  const found = findJson(content);
  if (found.length === 0) return { ok: false, problem: 'it holds no JSON object' };
  const parsed = found.map(({ value }) => schema.safeParse(defuseUrls(value, vouched)));
  const good = parsed.flatMap((each) => (each.success ? [each.data] : []));
  const inexact = found.find((each, at) => parsed[at]?.success && each.inexact !== undefined)?.inexact;
  if (inexact !== undefined) return { ok: false, problem: `it holds ${inexact}` };
  const [first] = good;
  if (first === undefined) {
    const failed = parsed.find((each) => !each.success);
    return { ok: false, problem: failed?.error === undefined ? 'it fits no schema' : toProblem(failed.error) };
  }
  if (new Set(good.map(canonicalJson)).size > 1)
    return { ok: false, problem: 'it holds several different JSON objects' };
  return { ok: true, value: first };
}

function toProblem(error: z.ZodError): string {
  const issues = error.issues.slice(0, MAX_ISSUES).map((issue) => {
    const where = issue.path.length === 0 ? 'the answer' : `"${issue.path.join('.')}"`;
    return `${where}: ${issueWords(issue).slice(0, 400)}`;
  });
  const more = error.issues.length - issues.length;
  return issues.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
