// Targets: a breaker that opens by itself, what is parked, what a person says, and the letters of a healed target.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world(
  async ({ server, target }) => {
    await server.call(
      'PUT',
      '/api/workflows/calls',
      `id: calls
name: Calls
retry: { maxRetries: 1, initialDelay: 10ms, strategy: fixed, jitter: none }
steps:
  - id: call
    type: http
    config: { method: POST, url: "${target.url}/flaky/down" }
`,
    );
  },
  { env: { REFIRE_BREAKERS: 'on' } },
);

const host = () => new URL(here.target.url).host;
const stateOf = async () => (await here.server.call('GET', `/api/targets/${host()}`)).state;
const row = (page) => page.getByRole('row').filter({ hasText: host() });
const act = async (page, name) => {
  await row(page)
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem', { name }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy as curl' }).waitFor();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: name.replace('…', '') })
    .click();
};

test('a target that fails is left alone, with its figures and what is parked', async () => {
  const { server } = here;
  const first = await server.execute('calls', {});
  const other = await server.execute('calls', {});
  const third = await server.execute('calls', {});
  for (const id of [first, other, third])
    await until('it failed or is parked', async () => {
      const execution = await server.call('GET', `/api/executions/${id}`);
      return execution.status === 'dlq' || execution.parked;
    });
  await until('its breaker is open', async () => (await stateOf()) === 'open');
  const waits = await server.execute('calls', {});
  await here.visit('/targets', async (page) => {
    await row(page).getByText('open, left alone').waitFor();
    await row(page)
      .getByText(/\d:\d\d/)
      .first()
      .waitFor();
    await row(page).getByText(/100 %/).waitFor();
    await page.getByRole('button', { name: 'Open the row' }).first().click();
    await page.getByText('Why it opened').waitFor();
    await page.getByRole('gridcell').getByRole('link', { name: 'calls' }).waitFor();
    await assertAccessible(page, 'targets');
    await page.goto(`/executions/${waits}`);
    await page.getByRole('link', { name: /Parked: / }).click();
    await page.waitForURL(/\/targets\?open=/);
  });
});

test('a person stops calls, leaves it to the breaker, and retries what failed', async () => {
  const { server } = here;
  here.target.repair('down');
  await here.visit('/targets', async (page) => {
    await act(page, 'Stop calls…');
    await row(page).getByText('open, left alone, by hand').waitFor();
    assert.equal(await stateOf(), 'open');
    await act(page, 'Leave it to the breaker…');
    await row(page).getByText('closed, calls are made').waitFor();
    await until('what was parked is done', async () => {
      const { total } = await server.call('GET', '/api/executions/count?status=completed');
      return total > 0;
    });
    const { count } = await server.call('GET', '/api/dlq/summary?status=pending');
    assert.ok(count > 0);
    await page.getByRole('button', { name: 'Open the row' }).first().click();
    await page.getByText(/is healthy again/).waitFor();
    await page.getByRole('button', { name: /^Retry its \d+…/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`Dead letters whose last call was to ${host()}`).waitFor();
    await dialog.getByRole('button', { name: `Retry ${count}` }).click();
    await page.getByText(`${count} of ${count} done`).waitFor();
  });
  await until('none waits', async () => {
    const { count } = await server.call('GET', '/api/dlq/summary?status=pending');
    return count === 0;
  });
});

test('in Chinese, on a small screen', () =>
  here.visit('/targets', { width: 390 }, async (page) => {
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.reload();
    await page.getByRole('heading', { name: '目標' }).waitFor();
    await assertAccessible(page, 'targets on a small screen');
  }));
