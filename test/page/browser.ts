import { readToolchain } from '@cleanslate/infra';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** The Chromium that the set-up found. Throws where there is none: a page that nobody looked at is not tested. */
export async function startBrowser(): Promise<Browser> {
  const found = readToolchain().chromium;
  if (found?.kind !== 'binary')
    throw new Error(found?.why ?? 'the set-up looked for no Chromium yet: run `npm run setup`');
  return await chromium.launch({
    executablePath: found.path,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Containers give little shared memory.
      '--disable-dev-shm-usage',
    ],
  });
}

/** A window of a user of the gateway, and all that went wrong in it. */
export type Window = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of scripts, refused by policy, dialogs, requests to anywhere else. */
  readonly faults: string[];
};

export async function openWindow(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL: url, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    // That a page was refused is what some tests are about.
    if (message.type() === 'error' && !message.text().includes('the server responded with a status'))
      faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) faults.push(`request: ${request.url()}`);
  });
  return { context, page, faults };
}

export async function signIn({ page }: Pick<Window, 'page'>, key: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('/');
}

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

/** What axe finds wrong with the page as it stands, in short. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then((result) => result.violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
  );
}
