import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { testApiKey, waitFor } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { PLAN_WORKFLOWS, type Scripts, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { findBarriers, openWindow, signIn, startBrowser, type Window } from './browser.ts';

const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
let p: ScriptedPlatform;
let browser: Browser;
let url = '';
let window: Window;

beforeAll(async () => {
  [p, browser] = await Promise.all([
    startScripted({
      postgresAdminUrl: inject('postgresAdminUrl'),
      workflows: PLAN_WORKFLOWS,
      workers: ['analyzer', 'validator'],
      env: { LOG_LEVEL: 'info' },
      log: (name, line) => {
        const port = name === 'gateway' && /"httpPort":(\d+)/.exec(line)?.[1];
        if (port) url = `http://127.0.0.1:${port}`;
      },
    }),
    startBrowser(),
  ]);
  await waitFor('the port of the gateway', () => url !== '');
});
afterAll(async () => {
  await browser?.close();
  await p?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  window = await openWindow(browser, url);
});
afterEach(async () => {
  const { faults } = window;
  await window.context.close();
  expect(faults).toEqual([]);
});

async function submit(workflow: string, given: Scripts = {}, key?: string): Promise<string> {
  return (await p.client.submit({ workflow, input: scripts(given), key })).taskId;
}

describe('signing in', () => {
  test('a stranger is led to the sign-in, a wrong key is told so, the right one comes to where it was going', async () => {
    const { page } = window;
    await page.goto('/facts?revision=0');
    expect(new URL(page.url()).pathname).toBe('/login');
    await page.getByLabel('API key').fill('csk_nobody_has_this');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('not known');
    await page.goto('/login?next=%2Ffacts%3Frevision%3D0');
    await page.getByLabel('API key').fill(testApiKey('acme'));
    await page.keyboard.press('Enter');
    await page.waitForURL('/facts?revision=0');
    const [cookie] = await window.context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(cookie?.value).not.toContain('csk_');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto('/');
    expect(new URL(page.url()).pathname).toBe('/login');
  });

  test('a link with the key behind # signs in, and the key does not stay in the address', async () => {
    await window.page.goto(`/login#${testApiKey('globex')}`);
    await window.page.waitForURL('/');
    expect(await window.page.getByText('tenant globex').count()).toBe(1);
    expect(await window.page.evaluate('document.cookie')).toBe('');
  });

  test('an address to another site is no place to go on to; a form of another site is refused', async () => {
    const { page } = window;
    await page.goto('/login?next=%2F%2Fevil.example%2F');
    await page.getByLabel('API key').fill(testApiKey('acme'));
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
    const taskId = await submit('join-all', { a: { hang: true } });
    const cookie = (await window.context.cookies()).map(({ name, value }) => `${name}=${value}`).join();
    for (const headers of [{ origin: 'https://evil.example' }, {}]) {
      const response = await fetch(`${url}/tasks/${taskId}/cancel`, {
        method: 'POST',
        headers: { cookie, ...headers },
        redirect: 'manual',
      });
      expect(response.status).toBe(403);
    }
    // With the cookie alone the API can be read, not told.
    const told = await fetch(`${url}/v1/tasks/${taskId}/cancel`, { method: 'POST', headers: { cookie } });
    expect(told.status).toBe(401);
    expect((await p.client.task(taskId)).state).not.toBe('failed');
    await p.client.cancel(taskId);
  });
});

describe('tasks', () => {
  test('one runs while it is looked at: its steps and its end come by themselves', async () => {
    const { page } = window;
    await signIn(window, testApiKey('acme'));
    const taskId = await submit('join-all', { b: { gate: 'looked-at' } });
    await page.goto(`/tasks/${taskId}`);
    const step = (id: string) => page.locator(`[data-step="${id}"] .badge`);
    await step('a').filter({ hasText: 'done' }).waitFor();
    expect(await step('b').textContent()).toMatch(/executing|dispatched|ready/);
    expect(await step('j').textContent()).toContain('blocked');
    p.openGate('looked-at');
    await page.locator('.head .badge', { hasText: 'completed' }).waitFor();
    await step('j').filter({ hasText: 'done' }).waitFor();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    // Told to those who don't see it.
    await waitFor('the announcement', async () =>
      (await page.locator('#announce').textContent())?.includes('completed'),
    );
  });

  test('the list: states in words, a filter, pages; new ones come by themselves', async () => {
    const { page } = window;
    await signIn(window, testApiKey('globex'));
    expect(await page.getByText('No tasks yet').count()).toBe(1);
    const globex = await p.platform.client('globex');
    const failing = scripts({ a: { failFirst: 9, failWith: { code: 'MODEL_REFUSED', disposition: 'terminal' } } });
    const { taskId } = await globex.submit({ workflow: 'join-all', input: failing });
    await page.getByRole('link', { name: taskId }).waitFor();
    await globex.result(taskId);
    for (let n = 0; n < 51; n++) await globex.submit({ workflow: 'join-all', input: scripts({}), key: `k${n}` });
    await page.reload();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
    await page.getByLabel('State').selectOption('failed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(await page.locator('tbody .badge').textContent()).toBe('✕ failed');
  });

  test('a person decides at a gate; cancel and run again', async () => {
    const { page } = window;
    await signIn(window, testApiKey('acme'));
    const taskId = await submit('gated-result');
    await page.goto(`/tasks/${taskId}`);
    await page.getByRole('heading', { name: 'waits for you' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.getByRole('status').textContent()).toBe('approved');
    await page.locator('.head .badge', { hasText: 'completed' }).waitFor();
    const other = await submit('join-all', { a: { hang: true } });
    await page.goto(`/tasks/${other}`);
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.locator('.head .badge', { hasText: 'failed' }).waitFor();
    expect(await page.locator('.box.bad').textContent()).toContain('CANCELLED');
    await page.getByRole('button', { name: 'Run it again' }).click();
    await page.locator('.head .badge', { hasText: /pending|executing/ }).waitFor();
    await p.client.cancel(other);
  });
});

test('a dead letter: found from its task, replayed to success; another is discarded with a reason', async () => {
  const { page } = window;
  await signIn(window, testApiKey('acme'));
  const failing = { a: { failUntil: 'mended', failWith: { code: 'MODEL_REFUSED', disposition: 'terminal' as const } } };
  const [mended, given] = [await submit('join-all', failing), await submit('join-all', failing)];
  await Promise.all([p.client.result(mended), p.client.result(given)]);
  await page.goto(`/tasks/${given}`);
  await page.getByRole('link', { name: 'Dead letter of a' }).click();
  // The reason is asked for.
  await page.getByRole('button', { name: 'Discard it' }).click();
  expect(await page.locator('.head .badge').textContent()).toBe('! open');
  await page.getByLabel('Because').fill('a test');
  await page.getByRole('button', { name: 'Discard it' }).click();
  await page.locator('.head .badge', { hasText: 'discarded' }).waitFor();
  p.openGate('mended');
  await page.goto('/dead-letters?status=open');
  await page.getByRole('row', { name: 'MODEL_REFUSED' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Replay it' }).click();
  expect(await page.getByRole('status').textContent()).toBe('is replayed');
  expect(await p.client.result(mended)).toMatchObject({ state: 'completed' });
  await page.reload();
  await page.locator('.head .badge', { hasText: 'closed' }).waitFor();
});

test('facts: the slider moves through valid time, and another version holds; revisions likewise', async () => {
  const { page } = window;
  const set = parsePolicySet(await readFile(join(checkoutRoot, 'infra/samples/policies-en.yaml'), 'utf8'));
  const { revision } = await p.client.facts.import(set);
  await signIn(window, testApiKey('acme'));
  await page.goto('/facts');
  await page.getByRole('link', { name: 'hl-late-rate-max' }).click();
  const holds = page.locator('figure.paper figcaption');
  expect(await holds.textContent()).toContain('version 3');
  const slider = page.getByRole('slider', { name: 'Valid at' });
  const days = await slider.evaluate((element) =>
    Math.round(
      (Date.parse('2024-08-01') - Date.parse((element as unknown as { dataset: { from: string } }).dataset.from)) /
        86_400_000,
    ),
  );
  await slider.fill(String(days));
  await holds.filter({ hasText: 'version 2' }).waitFor();
  expect(new URL(page.url()).searchParams.get('validAt')).toMatch(/^2024-08-01T00:00/);
  // By keyboard, to the left end, before the fact began.
  await slider.focus();
  await page.keyboard.press('Home');
  await page
    .getByText('No version holds there.')
    .or(holds.filter({ hasText: 'version 1' }))
    .waitFor();
  await page.goto(`/facts?revision=${revision - 1}`);
  expect(await page.getByRole('link', { name: 'hl-late-rate-max' }).count()).toBe(0);
});

test('schedules: paused and resumed', async () => {
  const { page } = window;
  await p.client.schedules.put({ scheduleId: 'nightly', workflow: 'join-all', input: scripts({}), cron: '30 2 * * *' });
  await signIn(window, testApiKey('acme'));
  await page.getByRole('link', { name: 'Schedules' }).click();
  await page.getByRole('button', { name: 'pause nightly' }).click();
  await expect.poll(() => page.getByText('paused').count()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'resume nightly' }).click();
  await page.getByRole('button', { name: 'pause nightly' }).waitFor();
});

test('what is not there, and what is no request, is a page that leads back', async () => {
  const { page } = window;
  await signIn(window, testApiKey('acme'));
  for (const [path, status] of [
    ['/tasks/none', 404],
    ['/facts/none', 404],
    ['/dead-letters/none', 404],
    ['/?state=lost', 400],
    ['/facts?validAt=never', 400],
  ] as const) {
    const response = await page.goto(path);
    expect([path, response?.status()]).toEqual([path, status]);
    expect(await page.getByRole('navigation').count()).toBe(1);
  }
});

test('hostile text in keys, reasons, inputs, facts and letters is shown, and does nothing', async () => {
  const { page } = window;
  await signIn(window, testApiKey('acme'));
  const taskId = await submit(
    'join-all',
    { a: { failFirst: 9, gate: EVIL, failWith: { code: 'EVIL', disposition: 'terminal' } } },
    EVIL,
  );
  p.openGate('unused');
  await p.client.cancel(taskId, EVIL);
  const fact = {
    knowledgeId: 'evil',
    subject: EVIL,
    predicate: EVIL,
    unit: null,
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    tags: [EVIL.slice(0, 60)],
    periods: [{ value: EVIL, statement: EVIL, validFrom: null, validUntil: null }],
  } as const;
  await p.client.facts.import({
    sourceRef: EVIL,
    sourceType: 'human_confirmed',
    facts: [{ ...fact, tags: [...fact.tags], periods: [...fact.periods] }],
  });
  await p.client.schedules.put({
    scheduleId: 'evil',
    workflow: 'join-all',
    input: scripts({ a: { gate: EVIL } }),
    cron: '0 0 1 1 *',
  });
  for (const path of [`/tasks/${taskId}`, '/facts', '/facts/evil']) {
    await page.goto(path);
    expect([path, await page.getByText(EVIL).count()]).not.toEqual([path, 0]);
  }
  for (const path of [
    '/',
    '/schedules',
    '/dead-letters',
    `/?workflow=${encodeURIComponent(EVIL)}`,
    `/facts?prefix=${encodeURIComponent(EVIL)}`,
    `/login?next=${encodeURIComponent(EVIL)}`,
  ])
    await page.goto(path);
  expect(await page.evaluate('document.querySelectorAll("img[onerror]").length')).toBe(0);
});

test('without scripts everything can be read, and forms work', async () => {
  const plain = await openWindow(browser, url, { javaScriptEnabled: false });
  await signIn(plain, testApiKey('acme'));
  const taskId = await submit('gated-result');
  await waitFor('the gate', async () => (await p.client.task(taskId)).gate);
  await plain.page.goto(`/tasks/${taskId}`);
  await plain.page.getByRole('button', { name: 'Approve' }).click();
  expect(await plain.page.getByRole('status').textContent()).toBe('approved');
  await p.client.result(taskId);
  await plain.page.reload();
  expect(await plain.page.locator('.head .badge').textContent()).toBe('✓ completed');
  await plain.page.goto('/facts');
  await plain.page.getByRole('spinbutton', { name: 'Known at revision' }).fill('0');
  await plain.page.getByRole('button', { name: 'Show' }).click();
  await expect.poll(() => plain.page.getByText('No fact held then').count()).toBe(1);
  await plain.context.close();
});

describe('nobody is shut out', () => {
  test.each(['light', 'dark'] as const)('axe finds no barrier on any page, in the %s scheme', async (colorScheme) => {
    const own = await openWindow(browser, url, { colorScheme, reducedMotion: 'reduce' });
    const { page } = own;
    await page.goto('/login');
    expect(await findBarriers(page)).toEqual([]);
    await signIn(own, testApiKey('acme'));
    const gated = await submit('gated-result');
    await waitFor('the gate', async () => (await p.client.task(gated)).gate);
    const failed = await submit('join-all', {
      a: { failFirst: 9, failWith: { code: 'MODEL_REFUSED', disposition: 'terminal' } },
    });
    await p.client.result(failed);
    const [letter] = (await p.client.deadLetters.list({ taskId: failed })).letters;
    const places = [
      '/',
      `/tasks/${gated}`,
      `/tasks/${failed}`,
      '/facts',
      '/facts/hl-late-rate-max',
      '/blackboard',
      '/dead-letters',
      `/dead-letters/${encodeURIComponent(letter?.letterId ?? '')}`,
      '/schedules',
      '/tasks/none',
    ];
    for (const path of places) {
      await page.goto(path);
      expect([path, await findBarriers(page)]).toEqual([path, []]);
    }
    expect(own.faults).toEqual([]);
    await own.context.close();
    await p.client.cancel(gated);
  });

  test('by keyboard: the first stop skips to the content, focus is seen, and a refresh does not take it away', async () => {
    const { page } = window;
    await signIn(window, testApiKey('acme'));
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    expect(await focused.textContent()).toBe('Skip to content');
    expect(
      await focused.evaluate(
        (element) =>
          (globalThis as unknown as { getComputedStyle(e: unknown): { outlineStyle: string } }).getComputedStyle(
            element,
          ).outlineStyle,
      ),
    ).toBe('solid');
    await page.keyboard.press('Enter');
    const link = page.locator('tbody a').first();
    await link.focus();
    const text = await link.textContent();
    const asked = page.waitForResponse((response) => response.url() === `${url}/`);
    await asked;
    await waitFor('the focus', async () => (await focused.textContent()) === text);
  });

  test('on a narrow screen nothing but tables scrolls sideways', async () => {
    const own = await openWindow(browser, url, { viewport: { width: 360, height: 740 } });
    await signIn(own, testApiKey('acme'));
    for (const path of ['/', '/facts', '/facts/hl-late-rate-max', '/dead-letters']) {
      await own.page.goto(path);
      const width = await own.page.evaluate<number>('document.documentElement.scrollWidth');
      expect([path, width <= 360]).toEqual([path, true]);
    }
    await own.context.close();
  });
});
