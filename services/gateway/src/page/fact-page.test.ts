import type { FactView } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { factPage } from './fact-page.ts';
import { html, toMarkup } from './html.ts';

const fact: FactView = {
  tenantId: 'acme',
  knowledgeId: 'salary-of-ann',
  version: 1,
  statement: '',
  assertion: null,
  knowledgeType: 'rule',
  layer: 'core',
  sourceType: 'human_confirmed',
  sourceRef: 'redacted',
  weight: 1,
  confidence: 1,
  importance: 1,
  accessLevel: 'internal',
  sensitivity: 'none',
  contentHash: 'a'.repeat(64),
  tags: [],
  validFrom: null,
  validUntil: null,
  revisionFrom: 1,
  revisionUntil: 3,
  redacted: { redactionId: 1, at: '2026-03-02T09:00:00.000Z', by: 'maria <m@x>', reason: 'ticket 811' },
};

test('a redacted version shows who erased it, when and why, in the place of its words', () => {
  const pin = { validAt: '2026-03-01T00:00:00.000Z', revision: 2 };
  const range = { from: '2025-01-01', until: '2027-01-01', lastRevision: 3 };
  const text = toMarkup(html`${factPage([fact], pin, range).body}`);
  expect(text.split('Redacted on 2026-03-02 by maria &lt;m@x&gt;: ticket 811')).toHaveLength(3);
});
