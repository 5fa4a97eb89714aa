// A browser whose pages must stay clean: an error in the console, a refused resource, a request to anywhere
// else or a breach of the content policy fails the test.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT_MS = 20_000;

/** Now and then Chromium dies while it starts, before any page: then it is started again. */
const STARTS_MAX = 3;

export async function startBrowser() {
  for (let start = 1; ; start += 1) {
    try {
      return await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    } catch (error) {
      if (start === STARTS_MAX) throw error;
      console.error(`Chromium did not start, try ${start}: ${String(error).slice(0, 200)}`);
    }
  }
}

/**
 * A page of a fresh browser profile. `allow` are answers the scenario asks for (such as 401).
 * @param {{ settings?: object, width?: number, height?: number, allow?: RegExp }} options
 */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    timezoneId: options.timezone ?? 'Asia/Taipei',
    locale: 'en-US',
  });
  context.setDefaultTimeout(WAIT_MS);
  if (options.settings)
    await context.addInitScript((settings) => {
      if (!localStorage.getItem('refire.settings'))
        localStorage.setItem('refire.settings', JSON.stringify(settings));
    }, options.settings);
  const page = await context.newPage();
  const wrong = watch(page, server, options);
  return {
    context,
    page,
    wrong,
    async close() {
      await context.close();
      assert.deepEqual(wrong, [], 'the page must stay clean');
    },
  };
}

/** Collects everything a clean page does not do. */
export function watch(page, server, { allow } = {}) {
  const wrong = [];
  const note = (text) => {
    if (!allow?.test(text)) wrong.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => note(`error: ${error.stack}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== new URL(server.url).origin)
      note(`foreign request: ${request.url()}`);
  });
  page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  return wrong;
}

export async function logIn(page, server, path = '/executions') {
  await page.goto(`/login?next=${encodeURIComponent(path)}`);
  await page.getByLabel('API key').fill(server.key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith('/login'));
}

/** Replaces the text of an editor by one from the clipboard. */
export async function paste(page, editor, text) {
  await editor.click();
  await page.keyboard.press('Control+a');
  await editor.evaluate((element, value) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', value);
    element.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, text);
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Checks the page against WCAG 2.2 AA, in both schemes. */
export async function assertAccessible(page, name) {
  for (const scheme of ['light', 'dark']) {
    await page.evaluate((value) => {
      document.documentElement.setAttribute('data-mantine-color-scheme', value);
    }, scheme);
    // By the debugger, which the content policy of the page does not concern.
    const script = await readFile(axePath, 'utf8');
    await page.evaluate(script);
    const found = await page.evaluate(async () => {
      // What fades in or out is judged when it is there.
      await Promise.all(
        document
          .getAnimations()
          .filter((each) => each.effect?.getTiming().iterations !== Number.POSITIVE_INFINITY)
          .map((each) => each.finished.catch(() => {})),
      );
      const result = await globalThis.axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      });
      return result.violations.map(
        (each) =>
          `${each.id}: ${each.nodes
            .slice(0, 3)
            .map((node) => `${node.html.slice(0, 140)} (${node.any[0]?.message ?? ''})`)
            .join(' | ')}`,
      );
    });
    assert.deepEqual(found, [], `${name} in the ${scheme} scheme`);
  }
}
