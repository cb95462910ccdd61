import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CATALOGUE, endpointSubject, parseSubject, subjects, TaskGet, TOKEN_PATTERN } from './index.ts';

const id = fc.stringMatching(TOKEN_PATTERN);

describe('parseSubject', () => {
  it('reads back the ids that a subject was built from', () => {
    fc.assert(
      fc.property(id, id, id, (role, tenantId, taskId) => {
        expect(parseSubject(subjects.submit(tenantId))).toEqual({ tenantId });
        expect(parseSubject(subjects.settle(tenantId))).toEqual({ tenantId });
        expect(parseSubject(subjects.work(role, tenantId, taskId))).toEqual({ role, tenantId, taskId });
        expect(parseSubject(subjects.report(role, tenantId, taskId))).toEqual({ role, tenantId, taskId });
        expect(parseSubject(subjects.blackboard(tenantId, taskId))).toEqual({ tenantId, taskId });
        expect(parseSubject(subjects.taskEvent(tenantId, taskId))).toEqual({ tenantId, taskId });
        expect(parseSubject(subjects.invalidSubmit(tenantId))).toEqual({ tenantId, taskId: 'invalid' });
        expect(parseSubject(subjects.knowledgeEvent(tenantId, taskId))).toEqual({ tenantId });
        expect(parseSubject(subjects.settled(tenantId))).toEqual({ tenantId });
        expect(parseSubject(endpointSubject(TaskGet, tenantId))).toEqual({ tenantId });
      }),
    );
  });

  it.each([
    '',
    '.',
    'cmd',
    'cmd.task',
    'cmd.task.',
    'cmd.task.a.',
    'cmd.task.a.b',
    '.cmd.task.a',
    'cmd..task.a',
    'cmd.work.r.t',
    'cmd.work.r.t.k.x',
    'rpt.r.t',
    'blackboard.t',
    'evt.task.t',
    'evt.other.t.k',
    'qry.t.task',
    'dlq.COMMANDS.work-analyzer',
    'claim.analyzer',
    'hb.analyzer',
    'constructor.a.b',
    '__proto__.a',
    'toString',
    '$JS.API.INFO',
    '_INBOX.a.b',
  ])('names no ids in %j', (subject) => expect(parseSubject(subject)).toBeUndefined());

  // Whoever answers or buries such a message builds an envelope from these ids; one that nobody can read helps no one.
  it.each([
    'cmd.task.*',
    'cmd.task.>',
    'cmd.task.ACME',
    'cmd.task.租户',
    'rpt.a.*.k',
    `cmd.task.${'a'.repeat(64)}`,
    'evt.task.t.a b',
  ])('takes nothing for an id that an envelope would refuse: %j', (subject) =>
    expect(parseSubject(subject)).toBeUndefined(),
  );

  it('gives ids that are ids, or nothing, for any subject', () => {
    const token = fc.oneof(id, fc.string({ maxLength: 4 }), fc.constantFrom('*', '>', '', 'A'));
    const head = fc.constantFrom('cmd.task', 'cmd.work', 'rpt', 'blackboard', 'evt.task', 'evt.knowledge', 'qry', 'x');
    fc.assert(
      fc.property(head, fc.array(token, { maxLength: 4 }), (plane, tokens) => {
        const ids = parseSubject([plane, ...tokens].join('.'));
        for (const value of Object.values(ids ?? {})) expect(value).toMatch(TOKEN_PATTERN);
      }),
    );
  });
});

it('the builders make subjects of the catalogue', () => {
  const built = [
    subjects.submit('tenant'),
    subjects.work('role', 'tenant', 'task'),
    subjects.settle('tenant'),
    subjects.report('role', 'tenant', 'task'),
    subjects.blackboard('tenant', 'task'),
    subjects.taskEvent('tenant', 'task'),
    subjects.knowledgeEvent('tenant', 'knowledge'),
    subjects.deadLetter('stream', 'consumer'),
    subjects.claim('role'),
    subjects.heartbeat('role'),
    subjects.register('role'),
    subjects.modelCall('role'),
    subjects.abort('role', 'worker'),
    subjects.progress('tenant', 'task'),
  ];
  const listed = CATALOGUE.map((entry) => entry.subject.replaceAll(/[{}]/g, ''));
  expect(listed.filter((subject) => !/^(qry|ctl|obj)\./.test(subject))).toEqual(built);
});
