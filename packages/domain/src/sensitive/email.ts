import type { Recognizer, SensitiveSpan } from './kinds.ts';

const LOCAL = /[A-Za-z0-9._%+'-]/;
const DOMAIN = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9-])/;
const MAX_DOMAIN = 255;

/**
 * Addresses, also right beside CJK characters. What stands before each `@` is read back to
 * the one before at most: linear.
 */
export const findEmails: Recognizer = (folded) => {
  const spans: SensitiveSpan[] = [];
  for (let at = folded.indexOf('@'); at >= 0; at = folded.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && LOCAL.test(folded[start - 1] ?? '')) start--;
    const domain = DOMAIN.exec(folded.slice(at + 1, at + 1 + MAX_DOMAIN))?.[0];
    if (start < at && domain !== undefined) spans.push({ kind: 'email', start, end: at + 1 + domain.length });
  }
  return spans;
};
