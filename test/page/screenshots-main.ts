import { mkdtempSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot, startPostgres } from '@cleanslate/infra';
import { startPlatform, testApiKey, waitFor } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { openWindow, signIn, startBrowser } from './browser.ts';

// Takes the screenshots of the README anew: node test/page/screenshots-main.ts. Real services, the
// sample contract and policies.
const folder = join(checkoutRoot, 'docs/images');
const sample = (name: string) => readFile(join(checkoutRoot, 'infra/samples', name), 'utf8');
await mkdir(folder, { recursive: true });
const postgres = await startPostgres({ dir: mkdtempSync(join(tmpdir(), 'cleanslate-shots-')), durable: false });
try {
  let url = '';
  await using platform = await startPlatform({
    postgresAdminUrl: postgres.adminUrl,
    env: { LOG_LEVEL: 'info' },
    log: (name, line) => {
      const port = name === 'gateway' && /"httpPort":(\d+)/.exec(line)?.[1];
      if (port) url = `http://127.0.0.1:${port}`;
    },
  });
  const client = await platform.client('acme');
  const policies = parsePolicySet(await sample('policies-en.yaml'));
  await client.facts.import(policies);
  // Later the handbook says that the rate falls again: what was believed until then stays on record.
  const rate = policies.facts.find(({ knowledgeId }) => knowledgeId === 'hl-late-rate-max');
  if (rate === undefined) throw new Error('the sample has no hl-late-rate-max');
  const periods = rate.periods.map((each) =>
    each.validUntil === null ? { ...each, validUntil: '2026-06-01T00:00:00.000Z' } : each,
  );
  const lower = {
    value: '9',
    statement: 'Interest on late payments must not exceed 9% per year.',
    validFrom: '2026-06-01T00:00:00.000Z',
    validUntil: null,
  };
  await client.facts.import({ ...policies, facts: [{ ...rate, periods: [...periods, lower] }] });
  const text = await sample('contract-en.md');
  const submit = async (key: string, workflow = 'contract-review', validAt?: string) =>
    (
      await client.submit({
        workflow,
        key,
        validAt,
        input: workflow === 'noop' ? {} : { document: { name: 'contract-en.md', mediaType: 'text/markdown', text } },
      })
    ).taskId;
  const review = await submit('order-4711');
  await client.result(review);
  await client.result(await submit('order-4712', 'contract-review', '2024-08-01'));
  await client
    .cancel(await submit('order-4713', 'contract-review', '2019-01-01'), 'the contract was withdrawn')
    .catch(() => undefined);
  for (const key of ['probe-1', 'probe-2', 'probe-3']) await client.result(await submit(key, 'noop'));
  for (const key of ['order-4715', 'order-4716', 'order-4717']) await client.result(await submit(key));
  await platform.service('generator').kill('SIGKILL');
  const open = await submit('order-4714');
  await waitFor('it to wait for a generator', async () => (await client.task(open)).steps[1]?.phase === 'done');
  await using browser = { shut: await startBrowser(), [Symbol.asyncDispose]: async () => browser.shut.close() };
  for (const scheme of ['light', 'dark'] as const) {
    const window = await openWindow(browser.shut, url, { colorScheme: scheme, viewport: { width: 1200, height: 780 } });
    const { page } = window;
    const shoot = async (name: string, path: string, full = false) => {
      await page.goto(path);
      await page.screenshot({ path: join(folder, `${name}${scheme === 'dark' ? '-dark' : ''}.png`), fullPage: full });
    };
    await page.goto('/login');
    await page.screenshot({ path: join(process.env['SHOTS'] ?? folder, `login-${scheme}.png`) });
    await signIn(window, testApiKey('acme'));
    await shoot('tasks', '/');
    await shoot('task', `/tasks/${review}`);
    await shoot('fact', '/facts/hl-late-rate-max?validAt=2024-08-01');
    if (process.env['SHOTS']) {
      const all = (name: string, path: string) =>
        page
          .goto(path)
          .then(() =>
            page.screenshot({ path: join(process.env['SHOTS'] ?? '', `${name}-${scheme}.png`), fullPage: true }),
          );
      await all('task-full', `/tasks/${review}`);
      await all('task-open', `/tasks/${open}`);
      await all('facts', '/facts');
      await all('blackboard', '/blackboard');
      await all('letters', '/dead-letters');
    }
    if (window.faults.length > 0) throw new Error(window.faults.join('\n'));
    await window.context.close();
  }
} finally {
  await postgres.stop();
}
