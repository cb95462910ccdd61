import type { AccessLevel, KnowledgeType } from '@cleanslate/contracts';
import {
  type CleanEvidence,
  DEFAULT_SENSITIVE,
  Evidence,
  MAX_EVIDENCE_CHARS,
  maskSensitive,
  sanitizeEvidence,
} from '@cleanslate/domain';
import type { Hit } from '../adapter.ts';
import { sourceError } from '../source-error.ts';

const RANK: Readonly<Record<AccessLevel, number>> = { public: 0, internal: 1, restricted: 2 };

export function isCleared(needed: AccessLevel, clearance: AccessLevel): boolean {
  return RANK[needed] <= RANK[clearance];
}

export type CleaningOptions = {
  readonly source: string;
  /** The least that a reader needs; a hit may need more, never less. */
  readonly accessLevel: AccessLevel;
  readonly knowledgeType: KnowledgeType;
  readonly clearance: AccessLevel;
  readonly validAt: string;
  readonly limit: number;
  readonly now: () => number;
};

export type Cleaned = {
  readonly evidence: Evidence[];
  /** How many were left out, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
};

/**
 * Raw hits as a reader with this clearance may see them at this moment. Throws `SOURCE_BAD_ANSWER` for a hit that can't
 * be evidence at all.
 */
export function toEvidence(hits: readonly Hit[], options: CleaningOptions): Cleaned {
  const { source, clearance, validAt, now, limit } = options;
  const dropped: Record<string, number> = {};
  const drop = (why: string) => {
    dropped[why] = (dropped[why] ?? 0) + 1;
  };
  const items = hits.flatMap((hit, index) => {
    const accessLevel = higher(hit.accessLevel ?? 'public', options.accessLevel);
    const content = toPlainText(hit.content);
    if (isCleared(accessLevel, clearance) && content !== '') return [{ id: `${index}`, hit, content, accessLevel }];
    drop(content === '' ? 'empty' : 'access');
    return [];
  });
  const raw = items.map(({ id, hit, content }) => ({
    id,
    content,
    knowledgeType: hit.knowledgeType ?? options.knowledgeType,
    series: hit.series ?? null,
    version: hit.version ?? 1,
    validFrom: hit.validFrom ?? null,
    validUntil: hit.validUntil ?? null,
  }));
  const clean = sanitizeEvidence(raw, { level: 'full', validAt, now });
  for (const { why } of clean.dropped) drop(why);
  const byId = new Map(items.map((item) => [item.id, item]));
  const evidence = clean.kept.flatMap((kept) => {
    const item = byId.get(kept.id);
    const text = item === undefined ? '' : toContent(kept, item.hit, item.content);
    if (item === undefined || text === '') return [];
    return [checked(source, item.hit, { content: text, accessLevel: item.accessLevel, flags: [...kept.flags] })];
  });
  return { evidence: evidence.slice(0, limit), dropped };
}

function higher(a: AccessLevel, b: AccessLevel): AccessLevel {
  return RANK[a] > RANK[b] ? a : b;
}

/** PostgreSQL and our JSON accept neither NUL nor half a surrogate pair. */
function toPlainText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed().trim();
}

/**
 * A text that is governed word by word is not shortened and keeps its hedges; what identifies people is masked in it as
 * anywhere.
 */
function toContent(kept: CleanEvidence, hit: Hit, original: string): string {
  const text = hit.verbatim === true ? maskSensitive(original, DEFAULT_SENSITIVE) : kept.content;
  return text.slice(0, MAX_EVIDENCE_CHARS).toWellFormed().trim();
}

type Judged = Pick<Evidence, 'content' | 'accessLevel' | 'flags'>;

function checked(source: string, hit: Hit, judged: Judged): Evidence {
  const { title, validFrom, validUntil, version } = hit;
  const shownTitle = title === undefined ? '' : maskSensitive(toPlainText(title), DEFAULT_SENSITIVE).slice(0, 300);
  const parsed = Evidence.safeParse({
    source,
    ...judged,
    score: Number.isFinite(hit.score) ? Math.min(1, Math.max(0, hit.score)) : 0,
    locator: toPlainText(hit.locator).slice(0, 2_000),
    ...(shownTitle === '' ? {} : { title: shownTitle }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validUntil === undefined ? {} : { validUntil }),
    ...(version === undefined ? {} : { version }),
  });
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') ?? 'evidence';
  throw sourceError('SOURCE_BAD_ANSWER', source, `gave no usable ${field}: check how its answer is mapped`);
}
