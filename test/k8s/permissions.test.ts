import { toNatsServerConfig } from '@cleanslate/bus';
import { BUILT_IN_ROLES, type Principal } from '@cleanslate/contracts';
import { type Platform, type ServiceName, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { show } from '../fixtures/scripted-platform.ts';

let platform: Platform;
beforeAll(async () => {
  const services: readonly ServiceName[] = ['scheduler', 'gateway', 'knowledge-maintainer', 'analyzer'];
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services, log: show });
});
afterAll(() => platform[Symbol.asyncDispose]());

test.each([
  ['scheduler', 'claim.*'],
  ['gateway', 'qry.*.task.get'],
  ['knowledge-maintainer', 'ctl.*.fact.import'],
  ['analyzer', 'abort.analyzer.*'],
] as const)(
  'G3: %s without the right to subscribe to %s is not ready, and names it',
  async (name, subject) => {
    const { server, password } = platform.broker;
    const whole = configOf(password);
    const without = whole.replaceAll(`"${subject}"`, '"nothing.at.all"');
    expect(without).not.toBe(whole);
    const readiness = async () => {
      const response = await fetch(`${platform.service(name).healthUrl}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    await waitFor('ready', async () => (await readiness()).status === 200);
    await server.reload(without);
    await waitFor('not ready, by name', async () => {
      const { status, text } = await readiness();
      // A worker listens on a subject of its own.
      return status === 503 && text.includes(subject.replace(/\*$/, ''));
    });
    await server.reload(whole);
    await waitFor('ready again', async () => (await readiness()).status === 200, { timeoutMs: 90_000 });
  },
  240_000,
);

/** As the platform's broker was configured. */
function configOf(password: string): string {
  const kinds = ['scheduler', 'knowledge-maintainer', 'gateway', 'admin'] as const;
  const principals: Principal[] = [
    ...kinds.map((kind) => ({ kind })),
    ...BUILT_IN_ROLES.map((role): Principal => ({ kind: 'worker', role })),
    ...['acme', 'globex'].map((tenantId): Principal => ({ kind: 'tenant', tenantId })),
  ];
  return toNatsServerConfig({
    principals: principals.map((principal) => ({ principal, password })),
    roles: BUILT_IN_ROLES,
  });
}
