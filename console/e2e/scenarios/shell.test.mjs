// The frame: palette, help, settings, a server that goes away, narrow screens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, logIn, openPage } from '../browser.mjs';
import { startServer } from '../server.mjs';
import { world } from '../world.mjs';

const here = world();

test('the palette finds pages, pasted ids and actions', async () => {
  const id = await here.server.execute('flaky', { name: 'palette' });
  await here.server.status(id, 'retrying');
  await here.visit('/executions', async (page) => {
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search and act' });
    await field.waitFor();
    await assertAccessible(page, 'palette');
    await field.fill(id);
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(id));
    await page.getByRole('button', { name: 'Retry now' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('pause');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Pauses').waitFor();
  });
  await here.server.call('POST', `/api/executions/${id}/cancel`);
});

test('shortcuts lead through the pages, and the help lists them', () =>
  here.visit('/executions', async (page) => {
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next, previous row').waitFor();
    await assertAccessible(page, 'help');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.waitForURL(/\/workflows$/);
    await page.keyboard.press('/');
    await page.keyboard.type('g e');
    assert.match(page.url(), /\/workflows/);
  }));

test('language, theme and zone change at once and are kept', () =>
  here.visit('/executions', async (page) => {
    await page.getByText('UTC+8').waitFor();
    await page.getByRole('button', { name: 'Account and settings' }).click();
    await page.getByText('Dark', { exact: true }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await assertAccessible(page, 'settings');
    await page.getByText('繁體中文').click();
    await page.getByRole('heading', { name: '執行紀錄' }).waitFor();
    assert.equal(await page.getAttribute('html', 'lang'), 'zh-TW');
    await page.reload();
    await page.getByRole('heading', { name: '執行紀錄' }).waitFor();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  }));

test('a server that goes away is told of, and what was there stays', async () => {
  let server = await startServer();
  const opened = await openPage(here.browser, server, {
    allow: /status of 401|ERR_|Failed to load/,
  });
  try {
    await logIn(opened.page, server);
    await opened.page.getByRole('heading', { name: 'Executions' }).waitFor();
    await server.kill();
    await opened.page.getByText('The server does not answer').first().waitFor();
    await opened.page.getByRole('heading', { name: 'Executions' }).waitFor();
    server = await startServer({ port: server.port, data: server.data });
    await opened.page
      .getByText('The server does not answer')
      .first()
      .waitFor({ state: 'detached' });
  } finally {
    await opened.close();
    await server.stop();
  }
});
