import { type Principal, principalName } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, startTestBroker, TEST_PRINCIPALS, TEST_ROLES, type TestBroker } from './test-broker.ts';

const workers = TEST_ROLES.map((role) => `worker-${role}`);
const inboxes = TEST_PRINCIPALS.map((principal) => `_INBOX_${principalName(principal)}.x.1`);

/** By hand, not derived: subject → who may publish, who may subscribe. Nobody else may. */
const MAY: readonly (readonly [subject: string, publish: readonly string[], subscribe: readonly string[]])[] = [
  ['cmd.task.acme', ['tenant-acme', 'gateway'], []],
  ['cmd.task.globex', ['tenant-globex', 'gateway'], []],
  ['cmd.work.analyzer.acme.t1', ['scheduler'], []],
  ['cmd.work.validator.globex.t1', ['scheduler'], []],
  ['cmd.knowledge.acme', ['scheduler'], []],
  ['rpt.analyzer.acme.t1', ['worker-analyzer'], []],
  ['rpt.validator.acme.t1', ['worker-validator'], []],
  ['blackboard.acme.t1', [...workers, 'scheduler'], []],
  ['evt.task.acme.t1', ['scheduler'], ['tenant-acme', 'gateway']],
  ['evt.task.globex.t1', ['scheduler'], ['tenant-globex', 'gateway']],
  ['evt.knowledge.acme.k1', ['knowledge-maintainer'], ['tenant-acme', 'gateway']],
  ['prg.acme.t1', workers, ['tenant-acme', 'gateway']],
  ['claim.analyzer', ['worker-analyzer'], ['scheduler']],
  ['hb.analyzer', ['worker-analyzer'], ['scheduler']],
  ['abort.analyzer.w1', ['scheduler'], ['worker-analyzer']],
  ['qry.acme.task.get', ['tenant-acme', 'gateway'], ['gateway']],
  ['qry.acme.fact.history', ['tenant-acme', 'gateway'], ['gateway']],
  ['qry.globex.dlq.list', ['tenant-globex', 'gateway'], ['gateway']],
  ['ctl.acme.task.cancel', ['tenant-acme', 'gateway'], ['scheduler']],
  ['ctl.acme.dlq.replay', ['tenant-acme', 'gateway'], ['scheduler']],
  ['ctl.acme.fact.import', ['tenant-acme', 'gateway'], ['knowledge-maintainer']],
  ['obj.acme.object.get', [...workers, 'gateway'], ['scheduler']],
  ['obj.acme.object.put', [...workers, 'gateway'], ['scheduler']],
  ['dlq.COMMANDS.work-analyzer', ['worker-analyzer'], []],
  ['dlq.INTAKE.scheduler-intake', ['scheduler'], []],
  ['dlq.BLACKBOARD.maintainer-blackboard', ['knowledge-maintainer'], []],
  ['$JS.API.STREAM.CREATE.NOSUCH', ['admin'], []],
  ['$JS.API.STREAM.DELETE.NOSUCH', ['admin'], []],
  ['$JS.API.STREAM.PURGE.NOSUCH', ['admin'], []],
  ['$JS.API.STREAM.MSG.DELETE.NOSUCH', ['admin'], []],
  ['$JS.API.CONSUMER.CREATE.NOSUCH.x', ['admin'], []],
  ['$JS.API.CONSUMER.DELETE.NOSUCH.x', ['admin'], []],
  ['$JS.API.STREAM.INFO.COMMANDS', ['admin', 'scheduler', 'knowledge-maintainer', ...workers], []],
  ['$JS.API.STREAM.INFO.EVENTS', ['admin', 'scheduler'], []],
  ['$JS.API.STREAM.INFO.BLACKBOARD', ['admin', 'scheduler', 'knowledge-maintainer'], []],
  ['$JS.API.STREAM.MSG.GET.COMMANDS', ['admin', 'scheduler'], []],
  ['$JS.API.STREAM.MSG.GET.EVENTS', ['admin', 'knowledge-maintainer', 'scheduler'], []],
  ['$JS.API.STREAM.MSG.GET.BLACKBOARD', ['admin', 'scheduler'], []],
  ['$JS.API.DIRECT.GET.EVENTS', ['admin'], []],
  ['$JS.API.CONSUMER.MSG.NEXT.COMMANDS.work-analyzer', ['admin', 'worker-analyzer'], []],
  ['$JS.API.CONSUMER.MSG.NEXT.REPORTS.scheduler-reports', ['admin', 'scheduler'], []],
  ['$JS.API.CONSUMER.INFO.COMMANDS.work-analyzer', ['admin', 'scheduler', 'worker-analyzer'], []],
  ['$JS.ACK.COMMANDS.work-analyzer.1.1.1.1.0', ['worker-analyzer'], []],
  ['$JS.ACK.REPORTS.scheduler-reports.1.1.1.1.0', ['scheduler'], []],
  ['$SYS.REQ.SERVER.PING', [], []],
  ['something.else', [], []],
  // Widened filters: a subscription is allowed only where all of it is.
  ['>', [], []],
  ['*', [], []],
  ['evt.>', [], []],
  ['evt.task.*.*', [], ['gateway']],
  ['evt.task.acme.*', [], ['gateway', 'tenant-acme']],
  ['cmd.>', [], []],
  // The server takes `>` for the last `*` of an allow; nothing of the catalogue lies deeper.
  ['claim.>', [], ['scheduler']],
  ['prg.>', [], []],
  ['abort.analyzer.*', [], ['worker-analyzer']],
  ['_INBOX.>', [], []],
  ['$JS.EVENT.ADVISORY.>', [], []],
  ...inboxes.map((inbox): [string, string[], string[]] => [
    inbox,
    [],
    [inbox.slice('_INBOX_'.length).split('.')[0] ?? ''],
  ]),
];

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

describe.each(TEST_PRINCIPALS.map((principal) => [principalName(principal), principal] as const))(
  '%s',
  (name, principal) => {
    test('may publish what the catalogue gives it and nothing else', async () => {
      const refused = await refusedPublishes(principal);
      for (const [subject, publish] of MAY) {
        if (/[*>]/.test(subject)) continue;
        expect([subject, refused.has(subject) ? 'refused' : 'allowed']).toEqual([
          subject,
          publish.includes(name) ? 'allowed' : 'refused',
        ]);
      }
    });

    test('may subscribe to what the catalogue gives it and nothing else', async () => {
      const refused = await refusedSubscriptions(principal);
      for (const [subject, , subscribe] of MAY) {
        expect([subject, refused.has(subject) ? 'refused' : 'allowed']).toEqual([
          subject,
          subscribe.includes(name) ? 'allowed' : 'refused',
        ]);
      }
    });
  },
);

test('no credentials, a wrong password and an unknown user are refused', async () => {
  const servers = broker.server.url;
  await expect(connect({ servers })).rejects.toThrow(/authorization/i);
  await expect(connect({ servers, user: 'scheduler', pass: 'wrong-password' })).rejects.toThrow(/authorization/i);
  await expect(connect({ servers, user: 'worker-unheard-of', pass: PASSWORD })).rejects.toThrow(/authorization/i);
});

async function refusedPublishes(principal: Principal): Promise<Set<string>> {
  const refused = new Set<string>();
  const bus = await broker.connect(principal, {
    onStatus: (status) => {
      if (status.type === 'permission-violation' && status.operation === 'publish') refused.add(status.subject);
    },
  });
  for (const [subject] of MAY) if (!/[*>]/.test(subject)) bus.raw.publish(subject, '');
  await bus.flush();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return refused;
}

async function refusedSubscriptions(principal: Principal): Promise<Set<string>> {
  const refused = new Set<string>();
  const bus = await broker.connect(principal);
  for (const [subject] of MAY) {
    const callback = (error: Error | null) => {
      if (error) refused.add(subject);
    };
    bus.raw.subscribe(subject, { callback });
  }
  await bus.flush();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return refused;
}
