import { findSensitive } from './find-sensitive.ts';
import type { SensitiveKind, SensitivePolicy } from './kinds.ts';

export type SensitiveOutcome =
  /** `text` is what may be kept; `masked` lists what it lost, each kind once. */
  | { readonly outcome: 'kept'; readonly text: string; readonly masked: readonly SensitiveKind[] }
  | { readonly outcome: 'refused'; readonly kinds: readonly SensitiveKind[] };

/** Decides about a whole text by the levels of what is in it: one part that must be refused refuses all of it. */
export function applySensitivePolicy(text: string, policy: SensitivePolicy): SensitiveOutcome {
  const spans = findSensitive(text);
  const refused = spans.filter(({ kind }) => policy[kind] === 'refuse');
  if (refused.length > 0) return { outcome: 'refused', kinds: kindsOf(refused) };
  const masked = spans.filter(({ kind }) => policy[kind] === 'mask');
  return { outcome: 'kept', text: replace(text, masked), masked: kindsOf(masked) };
}

/** For logs, errors and events: nothing is refused; everything that the policy does not store is replaced. */
export function maskSensitive(text: string, policy: SensitivePolicy): string {
  return replace(
    text,
    findSensitive(text).filter(({ kind }) => policy[kind] !== 'store'),
  );
}

type Part = { readonly kind: SensitiveKind; readonly start: number; readonly end: number };

function replace(text: string, spans: readonly Part[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { kind, start, end } of spans) {
    parts.push(text.slice(from, start), kind === 'credential' ? '[redacted]' : `[${kind}]`);
    from = end;
  }
  return parts.join('') + text.slice(from);
}

function kindsOf(spans: readonly Part[]): readonly SensitiveKind[] {
  return [...new Set(spans.map(({ kind }) => kind))];
}
