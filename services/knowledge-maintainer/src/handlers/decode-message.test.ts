import { type Candidate, encodeMessage, HEADERS, KnowledgePropose } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { decodeKnowledgeMessage } from './decode-message.ts';

const STORED = Date.parse('2026-01-31T09:30:00.000Z');
const candidate: Candidate = {
  statement: 'The rate is 6 percent.',
  assertion: null,
  knowledgeType: 'rule',
  sourceType: 'internal_document',
  sourceRef: 'doc:a',
  confidence: 1,
  importance: 1,
  derivedFrom: [],
  tags: [],
};

/** As it was said by a machine whose clock says `time`. */
function saidAt(time: string, headers: Record<string, string> = {}): string | undefined {
  const ids = { id: 'm', source: '/test', tenantid: 'acme', taskid: 't', stepid: 's', attempt: 1 };
  const data = encodeMessage(KnowledgePropose, { ...ids, claimid: 'c', candidateid: 'k', time }, candidate);
  const message = {
    subject: 'blackboard.acme.t',
    data,
    headers: { get: (name: string) => headers[name] ?? '' },
    storedAt: STORED,
  };
  const decoded = decodeKnowledgeMessage(message as unknown as Parameters<typeof decodeKnowledgeMessage>[0]);
  return decoded.kind === 'candidate' ? decoded.candidate.saidAt : undefined;
}

test('A32: whatever the clock of the machine that says it, a candidate is said when the broker takes it', () => {
  for (const time of ['2026-01-31T09:20:00.000Z', '2026-01-31T09:40:00.000Z', '0000-01-01T00:00:00.000Z'])
    expect(saidAt(time)).toBe('2026-01-31T09:30:00.000Z');
});

test('B13: what a letter gives back was said when it was written', () => {
  const written = '2026-01-31T09:20:00.000Z';
  expect(saidAt(written, { [HEADERS.replayOf]: 'BLACKBOARD.1.1' })).toBe(written);
});
