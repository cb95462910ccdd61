import { findMatches } from '../find-matches.ts';
import type { Recognizer } from './kinds.ts';

/**
 * Credentials. Each pattern is a fixed beginning and one bounded run, so that the time is linear in the text; the group
 * `secret`, if present, is the part that must go.
 */
const PATTERNS: readonly RegExp[] = [
  /(?<![0-9A-Za-z])(?:sk|pk|rk|ghp|gho|ghs|ghu|xox[abps])[-_][A-Za-z0-9_-]{12,200}/dg,
  /(?<![0-9A-Za-z])(?:AKIA|ASIA)[A-Z0-9]{16}(?![0-9A-Za-z])/dg,
  /(?<![0-9A-Za-z])AIza[A-Za-z0-9_-]{35}/dg,
  /(?<![0-9A-Za-z_-])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,4000}\.[A-Za-z0-9_-]{8,1000}/dg,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?<secret>[A-Za-z0-9+/=\s]{1,10000})/dg,
  /(?<![0-9A-Za-z])(?:bearer|basic)\s{1,3}(?<secret>[A-Za-z0-9._~+/=-]{8,2000})/dgi,
  /(?:api[-_ ]?key|password|passwd|secret|access[-_ ]?token|密码|口令|密钥)["']?\s{0,3}[:=]\s{0,3}["']?(?<secret>[^\s"',;&\u3000-\u9fff]{6,500})/dgi,
  // "The password is required" is not one: in prose, a password must contain a digit.
  /(?:api[-_ ]?key|password|passwd|密码|口令|密钥)\s{0,3}(?:is|是|为)\s{0,3}["']?(?<secret>(?=[^\s"',;&\u3000-\u9fff]{0,60}\d)[^\s"',;&\u3000-\u9fff]{6,500})/dgi,
  /\/\/[^\s/:@]{0,100}:(?<secret>[^\s/@]{1,128})@/dg,
];

export const findCredentials: Recognizer = (folded) =>
  PATTERNS.flatMap((pattern) =>
    findMatches(folded, pattern).map((match) => {
      const [start, end] = match.indices?.groups?.['secret'] ?? [match.index, match.index + match[0].length];
      return { kind: 'credential', start, end };
    }),
  );
