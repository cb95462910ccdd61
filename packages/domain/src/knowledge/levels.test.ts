import type { AccessLevel, Candidate, FactImport } from '@cleanslate/contracts';
import { describe, expect, it } from 'vitest';
import { decideStatement, type ReleasedCandidate } from './decide-candidate.ts';
import { decideImport } from './decide-import.ts';
import { WriteDraft } from './write-draft.ts';

const tenantId = 'acme';
const MARCH = Date.parse('2026-03-01T00:00:00.000Z');

function candidate(value: string, accessLevel?: AccessLevel, derivedFrom: string[] = []): Candidate {
  return {
    statement: `The fee is EUR ${value}.`,
    knowledgeId: 'fee',
    knowledgeType: 'rule',
    tags: [],
    derivedFrom,
    sourceType: 'internal_document',
    sourceRef: 'minutes',
    confidence: 1,
    importance: 1,
    assertion: { subject: 'fee', predicate: 'value', value, unit: 'EUR', polarity: 'positive', modality: 'is' },
    ...(accessLevel === undefined ? {} : { accessLevel }),
  };
}

function say(
  draft: WriteDraft,
  said: Candidate,
  at = 0,
  parents: readonly AccessLevel[] = [],
  taskId: string | null = 't',
) {
  const source: ReleasedCandidate = {
    tenantId,
    candidate: said,
    candidateId: taskId,
    taskId,
    messageId: 'm',
    saidAt: MARCH + at,
    validatorScore: 1,
    validated: true,
    wasTurnedDown: () => false,
    parents: parents.map((accessLevel) => ({ roots: ['r'], trust: 'internal_document', accessLevel })),
  };
  return decideStatement(draft, source, MARCH + at);
}

function importOf(draft: WriteDraft, value: string) {
  const fact: FactImport = {
    knowledgeId: 'fee',
    subject: 'fee',
    predicate: 'value',
    unit: 'EUR',
    tags: [],
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    periods: [{ value, statement: `The fee is EUR ${value}.`, validFrom: null, validUntil: null }],
  };
  const source = { sourceRef: 'handbook', sourceType: 'human_confirmed', messageId: 'i', saidAt: MARCH } as const;
  return decideImport(draft, tenantId, [fact], source)[0]?.outcome;
}

const levels = (draft: WriteDraft) => draft.find(tenantId, 'fee').believed.map(({ body }) => body.accessLevel);

describe('who may read what is said', () => {
  it.each([
    ['nothing restricted', undefined, ['public', 'internal'], 'internal'],
    ['something restricted', undefined, ['public', 'restricted'], 'restricted'],
    ['something restricted, said to be public', 'public', ['restricted'], 'restricted'],
    ['something public, said to be restricted', 'restricted', ['public'], 'restricted'],
    ['nothing, said to be public', 'public', [], 'public'],
  ] as const)('derived from %s', (_what, named, parents, level) => {
    const draft = new WriteDraft([]);
    expect(say(draft, candidate('5', named), 0, parents)).toMatchObject({ body: { accessLevel: level } });
    expect(levels(draft)).toEqual([level]);
  });

  it('a new version is read by nobody who might not read the fact, unless a person named its level', () => {
    const draft = new WriteDraft([]);
    say(draft, candidate('5', 'restricted'));
    say(draft, candidate('6'), 1);
    say(draft, candidate('7', 'public'), 2);
    say(draft, candidate('8'), 3, [], null);
    expect(levels(draft)).toEqual(['restricted', 'restricted', 'restricted', 'restricted']);
    say(draft, candidate('9', 'internal'), 4, [], null);
    expect(levels(draft)).toEqual(['restricted', 'restricted', 'restricted', 'restricted', 'internal']);
  });

  it('an import, which can name none, takes that of the fact it changes, and is none where it says what is believed', () => {
    const open = new WriteDraft([]);
    expect([importOf(open, '5'), importOf(open, '5'), levels(open)]).toEqual(['accepted', 'duplicate', ['internal']]);
    const closed = new WriteDraft([]);
    say(closed, candidate('5', 'restricted'));
    expect([importOf(closed, '6'), importOf(closed, '6'), levels(closed)]).toEqual([
      'updated',
      'duplicate',
      ['restricted'],
    ]);
  });
});
