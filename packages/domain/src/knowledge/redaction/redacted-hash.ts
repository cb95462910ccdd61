import { createHmac } from 'node:crypto';
import type { Candidate } from '@cleanslate/contracts';
import { normaliseName, signatureOf } from '../signature.ts';
import { ERASED } from './erase-content.ts';

/**
 * Names under which a content may not come back: its wording, and what decides sameness. Keyed with a secret of the tenant, because what people want to be
 * forgotten is often short enough to be guessed.
 */
export function toRedactedHashes(
  key: Uint8Array,
  content: { readonly statement: string; readonly signature: string },
): string[] {
  return [hash(key, 'statement', normaliseName(content.statement)), hash(key, 'signature', content.signature)];
}

/** In the place of a request's hash without a key; told apart from one by its beginning. */
export function toKeyedRequest(key: Uint8Array, bodyHash: string): string {
  return `keyed:${hash(key, 'request', bodyHash)}`;
}

function hash(key: Uint8Array, kind: string, text: string): string {
  return createHmac('sha256', key).update(`${kind}\u001f${text}`).digest('hex');
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
    ...{ knowledgeType, sourceType, confidence, importance },
    ...{ statement: ERASED, assertion: null, sourceRef: 'redacted', derivedFrom: [], tags: [] },
  };
}

const UNREADABLE: Pick<Candidate, 'knowledgeId' | 'knowledgeType' | 'sourceType' | 'confidence' | 'importance'> = {
  ...{ knowledgeType: 'other', sourceType: 'external_source', confidence: 0, importance: 0 },
};
