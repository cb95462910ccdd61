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
  const hash = (kind: string, text: string) => createHmac('sha256', key).update(`${kind}\u001f${text}`).digest('hex');
  return [hash('statement', normaliseName(content.statement)), hash('signature', content.signature)];
}

/** The two of a statement as somebody says it. */
export function toContent({ statement, assertion }: Pick<Candidate, 'statement' | 'assertion'>) {
  return { statement, signature: signatureOf(statement, assertion) };
}

/** What stays of a candidate whose content was erased. */
export function toTombstone(body: Candidate): Candidate {
  const { knowledgeId, knowledgeType, sourceType, confidence, importance } = body;
  return {
    ...(knowledgeId === undefined ? {} : { knowledgeId }),
    ...{ knowledgeType, sourceType, confidence, importance },
    ...{ statement: ERASED, assertion: null, sourceRef: 'redacted', derivedFrom: [], tags: [] },
  };
}
