// Logging in and out: by key, by a one-time link, again over the page, in two tabs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, logIn, openPage } from '../browser.mjs';
import { world } from '../world.mjs';

const here = world();
/** Refusals these scenarios ask for. */
const REFUSED = /status of 401 /;

async function fresh(body, options = {}) {
  const opened = await openPage(here.browser, here.server, { allow: REFUSED, ...options });
  try {
    await body(opened.page, opened);
  } finally {
    await opened.close();
  }
}

test('a wrong key is refused in place, the right one leads to the page that was asked for', () =>
  fresh(async (page) => {
    await page.goto('/executions?status=dlq');
    await page.waitForURL(/\/login\?next=/);
    await assertAccessible(page, 'login');
    await page.getByLabel('API key').fill('rf_wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This key is not valid.').waitFor();
    await page.getByLabel('API key').fill(here.server.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(/\/executions\?status=dlq$/);
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert.ok(!kept.includes(here.server.key), 'the key is not kept in the browser');
    assert.equal(await page.evaluate(() => document.cookie), '', 'scripts cannot read the cookie');
  }));

test('a one-time link logs in once, and does not stay in the address', () =>
  fresh(async (page) => {
    const { url } = await here.server.call('POST', '/api/session/links');
    await page.goto(url);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    assert.ok(!page.url().includes('#t='));
    await fresh(async (second) => {
      await second.goto(url);
      await second.getByRole('alert').waitFor();
      await second.getByLabel('API key').waitFor();
    });
  }));

test('a session that ends shows the login over the page, and the action goes on', () =>
  fresh(async (page, { context }) => {
    const id = await here.server.execute('slow', { name: 'over' });
    await logIn(page, here.server, `/executions/${id}?tab=values`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await context.clearCookies();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Your session ended.').waitFor();
    assert.match(page.url(), /tab=values/);
    await page.getByLabel('API key').fill(here.server.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Execution paused').waitFor();
    await here.server.call('POST', `/api/executions/${id}/cancel`);
    here.target.repair('over');
  }));

test('logging out ends all tabs', () =>
  fresh(async (page, { context }) => {
    await logIn(page, here.server);
    const second = await context.newPage();
    await second.goto('/executions');
    await second.getByRole('heading', { name: 'Executions' }).waitFor();
    await page.getByRole('button', { name: 'Account and settings' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(/\/login/);
    await second.waitForURL(/\/login/);
  }));

test('a foreign page cannot act with the cookie', () =>
  fresh(async (page, { context }) => {
    const id = await here.server.execute('slow', { name: 'foreign' });
    await logIn(page, here.server);
    for (const headers of [
      { origin: 'https://evil.example', 'x-refire-console': '1' },
      { origin: here.server.url },
    ]) {
      const answer = await context.request.post(`${here.server.url}/api/executions/${id}/cancel`, {
        headers,
      });
      assert.equal(answer.status(), 403);
    }
    await here.server.call('POST', `/api/executions/${id}/cancel`);
    here.target.repair('foreign');
  }));
