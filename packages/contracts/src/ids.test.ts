import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AnyTime,
  Candidate,
  DeadLetterList,
  endpointSubject,
  FactAdd,
  FactPeriod,
  inboxPrefix,
  KnowledgeId,
  permissionsFor,
  principalName,
  RoleName,
  StepId,
  subjects,
  TaskId,
  TenantId,
  TOKEN_PATTERN,
  UtcTime,
  WorkerId,
  workConsumer,
} from './index.ts';

const HOSTILE = [
  'a.b',
  '*',
  '>',
  'a*',
  'a>',
  '.',
  '..',
  '$JS',
  '_INBOX',
  ' ',
  'a b',
  ' a',
  'a ',
  '\ta',
  'a\n',
  '\n',
  'a\r\nPUB x 0',
  'a'.repeat(64),
  'a'.repeat(300),
  '租户',
  'ａ',
  'é',
  'a\0',
  '',
  'ACME',
  '-a',
  '_a',
  'a/b',
  'a\\b',
  '{tenant}',
  '$&',
];

describe.each(HOSTILE.map((id) => [JSON.stringify(id), id]))('the id %s', (_shown, id) => {
  it('is refused as every kind of id', () => {
    for (const schema of [TenantId, TaskId, RoleName, WorkerId, KnowledgeId, StepId])
      expect(schema.safeParse(id).success).toBe(false);
  });

  it('becomes no subject, at whatever place', () => {
    const build: readonly (() => unknown)[] = [
      () => subjects.submit(id),
      () => subjects.settle(id),
      () => subjects.invalidSubmit(id),
      () => subjects.work(id, 't', 'k'),
      () => subjects.work('r', id, 'k'),
      () => subjects.work('r', 't', id),
      () => subjects.report(id, 't', 'k'),
      () => subjects.report('r', id, 'k'),
      () => subjects.report('r', 't', id),
      () => subjects.blackboard(id, 'k'),
      () => subjects.blackboard('t', id),
      () => subjects.settled(id),
      () => subjects.taskEvent(id, 'k'),
      () => subjects.taskEvent('t', id),
      () => subjects.knowledgeEvent(id, 'f'),
      () => subjects.knowledgeEvent('t', id),
      () => subjects.claim(id),
      () => subjects.heartbeat(id),
      () => subjects.abort(id, 'w'),
      () => subjects.abort('r', id),
      () => subjects.progress(id, 'k'),
      () => subjects.progress('t', id),
      () => workConsumer(id),
      () => principalName({ kind: 'worker', role: id }),
      () => inboxPrefix({ kind: 'tenant', tenantId: id }),
      () => permissionsFor({ kind: 'tenant', tenantId: id }, []),
      () => permissionsFor({ kind: 'scheduler' }, [id]),
    ];
    for (const act of build) expect(act).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    // The one wildcard: who serves an endpoint serves it for all tenants.
    if (id !== '*') expect(() => endpointSubject(DeadLetterList, id)).toThrow(/must match/);
  });
});

it('names of streams and consumers widen no dead-letter subject', () => {
  for (const name of ['*', '>', 'a.b', '', ' ', 'x'.repeat(129)]) {
    expect(() => subjects.deadLetter(name, 'work-analyzer')).toThrow(/no name of a stream/);
    expect(() => subjects.deadLetter('COMMANDS', name)).toThrow(/no name of a stream/);
  }
});

it('any text is an id only if it is one token of lower-case letters, digits, _ and -', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (text) => {
      const allowed =
        text.length >= 1 &&
        text.length <= 63 &&
        [...text].every((c) => 'abcdefghijklmnopqrstuvwxyz0123456789_-'.includes(c));
      expect(TenantId.safeParse(text).success).toBe(allowed && !/^[_-]/.test(text));
    }),
  );
  expect(TOKEN_PATTERN.flags).toBe('');
});

it('a step id is a plan key, with the round it was added for', () => {
  for (const id of ['analyze', 'analyze#2', 'a-b_c#9999', 'a'.repeat(48)])
    expect(StepId.safeParse(id).success).toBe(true);
  for (const id of ['analyze#', 'analyze#0', 'analyze#02', 'analyze#10000', 'a#2#3', 'a'.repeat(49)])
    expect(StepId.safeParse(id).success).toBe(false);
});

describe('times', () => {
  const said = { statement: 's', assertion: null, knowledgeType: 'lesson', sourceType: 'internal_document' };
  const candidate = { ...said, sourceRef: 'r', confidence: 1, importance: 1, derivedFrom: [], tags: [] };
  const period = { value: '1', statement: 's', validFrom: null, validUntil: null };

  it('of the year 0, which the database does not have, are refused where something is said to hold', () => {
    for (const validFrom of ['0000-01-01T00:00:00.000Z', '0000-12-31T23:59:59.999Z']) {
      expect(Candidate.safeParse({ ...candidate, validFrom }).error?.message).toContain('no year 0000');
      expect(FactPeriod.safeParse({ ...period, validUntil: validFrom }).error?.message).toContain('no year 0000');
      expect(AnyTime.safeParse(validFrom).error?.message).toContain('write a date');
    }
    expect(AnyTime.safeParse('0000-01-01').success).toBe(false);
    for (const validFrom of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', null])
      expect(Candidate.safeParse({ ...candidate, validFrom }).success).toBe(true);
    for (const time of ['0001-01-01', '9999-12-31', '2024-07-01T09:00:00+02:00'])
      expect(AnyTime.safeParse(time).success).toBe(true);
  });

  it('that their offset leads out of the years 1 to 9999 are refused', () => {
    for (const time of ['9999-12-31T23:59:59-12:00', '0001-01-01T00:00:00+14:00', '0000-06-01', 'now'])
      expect(AnyTime.safeParse(time).error?.message).toContain('from the year 1 to 9999 in UTC');
    for (const time of ['9999-12-31T23:59:59+12:00', '0001-01-01T00:00:00-14:00'])
      expect(AnyTime.safeParse(time).success).toBe(true);
  });

  it('in another form are refused with the form to write', () => {
    for (const time of ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000+00:00', 'now'])
      expect(UtcTime.safeParse(time).error?.message).toContain('as in 2024-07-01T09:00:00.000Z');
    expect(AnyTime.safeParse('2023-02-29').error?.message).toContain('write a date (2024-07-01, midnight UTC)');
  });

  it('a fact can’t be named as the confirmations are', () => {
    expect(Candidate.safeParse({ ...candidate, knowledgeId: 'settled' }).error?.message).toContain('is reserved');
    expect(FactAdd.request.data.safeParse({ statement: 's', knowledgeId: 'settled' }).success).toBe(false);
    expect(Candidate.safeParse({ ...candidate, knowledgeId: 'settled-2' }).success).toBe(true);
  });
});
