// The overview: numbers that lead to as many rows, what waits, and how to begin.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, logIn, openPage } from '../browser.mjs';
import { startServer, until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world(async ({ server }) => {
  for (let n = 0; n < 3; n += 1) {
    await server.status(await server.execute('good', { name: `g${n}` }), 'completed');
    await server.status(await server.execute('bad', { name: `b${n}` }), 'dlq');
  }
});
const rows = (page) => page.getByRole('grid').getByRole('row');

test('each number leads to the rows it counts', () =>
  here.visit('/', async (page) => {
    await page.getByRole('link', { name: 'Dead letters: 3' }).waitFor();
    await assertAccessible(page, 'the overview');
    await page.getByRole('link', { name: 'Dead letters: 3' }).click();
    await page.waitForURL(/\/dlq\?/);
    await until('as many letters', async () => (await rows(page).count()) === 4);
    await page.goto('/');
    await page.getByRole('link', { name: 'Executions: 6' }).click();
    await page.waitForURL(/\/executions\?from=-24h/);
    await until('as many executions', async () => (await rows(page).count()) === 7);
  }));

test('dead letters by cause lead to those letters', () =>
  here.visit('/', async (page) => {
    const cause = page.getByRole('listitem').filter({ hasText: 'http_status 400' });
    await cause.getByRole('link', { name: '3' }).click();
    await page.waitForURL(/workflow=bad/);
    await until('as many letters', async () => (await rows(page).count()) === 4);
  }));

test('a server on which nothing was done shows three ways to begin', async () => {
  const server = await startServer();
  const opened = await openPage(here.browser, server, { allow: /status of 401 .*\/api\/session/ });
  try {
    await logIn(opened.page, server, '/');
    await opened.page.getByRole('heading', { name: 'Begin here' }).waitFor();
    assert.equal(await opened.page.getByText('refire demo').count(), 1);
    await assertAccessible(opened.page, 'the first start');
  } finally {
    await opened.close();
    await server.stop();
  }
});
