import type { Candidate } from '@cleanslate/contracts';
import { normaliseName, signatureOf } from '../signature.ts';
import { ERASED } from './erase-content.ts';
import { hashKeyed } from './keyed-request.ts';

/**
 * Names under which a content may not come back: its wording, and what decides sameness. Keyed
 * with a secret of the tenant.
 */
export function toRedactedHashes(
  key: Uint8Array,
  content: { readonly statement: string; readonly signature: string },
): string[] {
  return [
    hashKeyed(key, 'statement', normaliseName(content.statement)),
    hashKeyed(key, 'signature', content.signature),
  ];
}

/** The two of a statement as somebody says it. */
export function toContent({ statement, assertion }: Pick<Candidate, 'statement' | 'assertion'>) {
  return { statement, signature: signatureOf(statement, assertion) };
}

/** What stays of a candidate whose content was erased; of one that can't be read (null), that there was one. */
export function toTombstone(body: Candidate | null): Candidate {
  const { knowledgeId, knowledgeType, sourceType, confidence, importance } = body ?? UNREADABLE;
  return {
    ...(knowledgeId === undefined ? {} : { knowledgeId }),
    knowledgeType,
    sourceType,
    confidence,
    importance,
    statement: ERASED,
    assertion: null,
    sourceRef: 'redacted',
    derivedFrom: [],
    tags: [],
  };
}

const UNREADABLE: Pick<Candidate, 'knowledgeId' | 'knowledgeType' | 'sourceType' | 'confidence' | 'importance'> = {
  knowledgeType: 'other',
  sourceType: 'external_source',
  confidence: 0,
  importance: 0,
};
