import { describe, expect, it } from 'vitest';
import { BUILT_IN_ROLES, CATALOGUE, inboxPrefix, type Principal, permissionsFor, principalName } from './index.ts';
import { subjectsOverlap } from './subject-overlap.ts';

const acme: Principal = { kind: 'tenant', tenantId: 'acme' };
const PRINCIPALS: readonly Principal[] = [
  ...([acme, { kind: 'tenant', tenantId: 'acm' }, { kind: 'tenant', tenantId: 'acme-2' }] as const),
  ...BUILT_IN_ROLES.map((role) => ({ kind: 'worker', role }) as const),
  ...([{ kind: 'scheduler' }, { kind: 'knowledge-maintainer' }, { kind: 'gateway' }, { kind: 'admin' }] as const),
];
const BY_NAME = new Map(
  PRINCIPALS.map((principal) => [principalName(principal), permissionsFor(principal, BUILT_IN_ROLES)]),
);
const whoMay = (verb: 'publish' | 'subscribe', subject: string) =>
  [...BY_NAME].filter(([, may]) => may[verb].some((own) => subjectsOverlap(own, subject))).map(([name]) => name);
const workers = BUILT_IN_ROLES.map((role) => `worker-${role}`);

/**
 * Written by hand, not derived: subject → all who may publish it, all who may subscribe to
 * it. Everyone else is forbidden.
 */
const MAY: readonly (readonly [subject: string, publish: readonly string[], subscribe: readonly string[]])[] = [
  ['cmd.task.acme', ['tenant-acme', 'gateway'], []],
  ['cmd.task.acme-2', ['tenant-acme-2', 'gateway'], []],
  ['cmd.task.acm', ['tenant-acm', 'gateway'], []],
  ['cmd.work.analyzer.acme.t', ['scheduler'], []],
  ['cmd.knowledge.acme', ['scheduler'], []],
  ['rpt.analyzer.acme.t', ['worker-analyzer'], []],
  ['rpt.validator.acme.t', ['worker-validator'], []],
  ['blackboard.acme.t', [...workers, 'scheduler'], []],
  ['evt.task.acme.t', ['scheduler'], ['tenant-acme', 'gateway']],
  ['evt.task.acme-2.t', ['scheduler'], ['tenant-acme-2', 'gateway']],
  ['evt.knowledge.acme.f', ['knowledge-maintainer'], ['tenant-acme', 'gateway']],
  ['evt.knowledge.acme.settled', ['knowledge-maintainer'], ['tenant-acme', 'gateway']],
  ['prg.acme.t', workers, ['tenant-acme', 'gateway']],
  ['claim.analyzer', ['worker-analyzer'], ['scheduler']],
  ['hb.analyzer', ['worker-analyzer'], ['scheduler']],
  ['reg.analyzer', ['worker-analyzer'], ['scheduler']],
  ['mdl.analyzer', ['worker-analyzer'], ['scheduler']],
  ['abort.analyzer.w', ['scheduler'], ['worker-analyzer']],
  ['qry.acme.task.get', ['tenant-acme', 'gateway'], ['gateway']],
  ['qry.acme.fact.as-of', ['tenant-acme', 'gateway'], ['gateway']],
  ['ctl.acme.task.cancel', ['tenant-acme', 'gateway'], ['scheduler']],
  ['ctl.acme.dlq.replay', ['tenant-acme', 'gateway'], ['scheduler']],
  ['ctl.acme.dlq.discard', ['tenant-acme', 'gateway'], ['scheduler']],
  ['ctl.acme.fact.import', ['tenant-acme', 'gateway'], ['knowledge-maintainer']],
  ['obj.acme.object.get', [...workers, 'gateway'], ['scheduler']],
  ['obj.acme.object.put', [...workers, 'gateway'], ['scheduler']],
  ['dlq.COMMANDS.work-analyzer', ['worker-analyzer'], []],
  ['dlq.REPORTS.scheduler-reports', ['scheduler'], []],
  ['dlq.COMMANDS.maintainer-commands', ['knowledge-maintainer'], []],
  ['$JS.API.CONSUMER.MSG.NEXT.COMMANDS.work-analyzer', ['worker-analyzer', 'admin'], []],
  ['$JS.ACK.COMMANDS.work-analyzer.1.2.3.4.5', ['worker-analyzer'], []],
  ['$JS.API.CONSUMER.CREATE.COMMANDS.x', ['admin'], []],
  ['$JS.API.CONSUMER.DELETE.COMMANDS.work-analyzer', ['admin'], []],
  ['$JS.API.STREAM.PURGE.COMMANDS', ['admin'], []],
  ['$JS.API.STREAM.MSG.DELETE.COMMANDS', ['admin', 'scheduler'], []],
  ['$JS.API.STREAM.MSG.DELETE.EVENTS', ['admin', 'scheduler'], []],
  ['$JS.API.STREAM.MSG.GET.EVENTS', ['admin', 'knowledge-maintainer', 'scheduler'], []],
  ['$JS.API.STREAM.MSG.GET.BLACKBOARD', ['admin', 'scheduler'], []],
  ['unheard.of', [], []],
];

describe.each(MAY)('%s', (subject, publish, subscribe) => {
  it('is published by these alone', () => expect(whoMay('publish', subject).sort()).toEqual([...publish].sort()));
  it('is received by these alone', () => expect(whoMay('subscribe', subject).sort()).toEqual([...subscribe].sort()));
});

it('the table says something about every subject of the catalogue', () => {
  const shapes = new Set(
    MAY.map(([subject]) =>
      subject
        .split('.')
        .slice(0, 2)
        .join('.')
        .replace(/\.acme$|\.analyzer$|\.COMMANDS$/, ''),
    ),
  );
  const missing = CATALOGUE.map(({ subject }) =>
    subject
      .split('.')
      .slice(0, 2)
      .join('.')
      .replace(/\.\{.*$/, ''),
  );
  expect(missing.filter((shape) => !shapes.has(shape))).toEqual([]);
});

describe.each([...BY_NAME])('%s', (name, { publish, subscribe }) => {
  it('has wildcards as whole tokens only, and `>` at the end', () => {
    for (const subject of [...publish, ...subscribe]) {
      const tokens = subject.split('.');
      for (const [i, token] of tokens.entries()) {
        expect(token).toMatch(/^(\*|>|[A-Za-z0-9_$-]+)$/);
        if (token === '>') expect(i).toBe(tokens.length - 1);
      }
      expect(['*', '>']).not.toContain(tokens[0]);
    }
  });

  it('listens to its own inbox, publishes to none, and nobody else listens there', () => {
    const inbox = `_INBOX_${name}.abc.1`;
    expect(whoMay('subscribe', inbox)).toEqual([name]);
    expect(whoMay('publish', inbox)).toEqual([]);
    expect(subscribe).toContain(`_INBOX_${name}.>`);
  });
});

describe('a tenant', () => {
  const { publish, subscribe, allowResponses } = permissionsFor(acme, BUILT_IN_ROLES);

  it('has no word with JetStream or the server: names of consumers can’t be fenced by wildcards', () => {
    for (const subject of ['$JS.API.>', '$JS.>', '$SYS.>', '$KV.>', '$O.>'])
      expect([...publish, ...subscribe].filter((own) => subjectsOverlap(own, subject))).toEqual([]);
    expect(allowResponses).toBe(false);
  });

  it('is named in everything it may say or hear', () => {
    for (const subject of [...publish, ...subscribe.filter((own) => !own.startsWith('_INBOX_'))])
      expect(subject.split('.')).toContain('acme');
    expect(inboxPrefix(acme)).toBe('_INBOX_tenant-acme');
  });

  it('can’t be an id that widens its own fence', () => {
    for (const tenantId of ['*', '>', 'a.>', '', 'acme.*'])
      expect(() => permissionsFor({ kind: 'tenant', tenantId }, [])).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      );
  });
});
