// Dead letters: totals, the row that opens, retries with the original and an edited input.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

/** A number that no JavaScript number holds. */
const BIG = '123456789012345678901234567890';

const here = world(async ({ server, target }) => {
  await server.call(
    'PUT',
    '/api/workflows/letters',
    `id: letters
name: Letters
retry: { maxRetries: 2, initialDelay: 20ms, strategy: fixed, jitter: none }
steps:
  - id: first
    type: http
    config: { method: POST, url: "${target.url}/ok/first" }
  - id: second
    type: http
    config: { method: POST, url: "${target.url}/flaky/\${input.name}", body: "\${input}" }
`,
  );
});

/** A letter of an execution that has failed for good. */
async function letter(name, more = '') {
  const { server } = here;
  const response = await fetch(`${server.url}/api/workflows/letters/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: `{"name":"${name}","include_crm":true${more}}`,
  });
  const { execution_id } = await response.json();
  const execution = await server.status(execution_id, 'dlq');
  return { execution: execution_id, id: execution.dlq_entry_id };
}

const rows = (page) => page.getByRole('grid').getByRole('row', { includeHidden: false });
const statusOf = async (id) => (await here.server.call('GET', `/api/dlq/${id}`)).status;
const resolved = (id) =>
  until(`${id} is resolved`, async () => (await statusOf(id)) === 'resolved');
const editor = (page) => page.getByRole('textbox', { name: 'Edited input' });

/** Replaces what the editor holds. */
async function write(page, text) {
  await editor(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

test('the last seven days, with totals, and a row that opens with everything about it', async () => {
  const { id, execution } = await letter('open-me');
  await here.visit('/dlq', async (page) => {
    await page.getByRole('button', { name: 'Last 7 days' }).waitFor();
    await page.getByText(/\d+ failed executions?/).waitFor();
    await page.getByText(/oldest/).waitFor();
    await page.getByRole('grid').getByText(execution.slice(-6)).first().waitFor();
    await page.getByRole('button', { name: 'Open the row' }).first().click();
    await page.waitForURL(new RegExp(`open=${id}`));
    for (const words of ['Retry history', 'What to try', 'The target answered · status 503'])
      await page.getByText(words).waitFor();
    await page.getByText('First try').waitFor();
    await page
      .getByText(/after \d+ ms/)
      .first()
      .waitFor();
    await assertAccessible(page, 'an open dead letter');
    await page.reload();
    await page.getByText('Retry history').waitFor();
  });
});

test('a retry with the original input resolves the letter', async () => {
  const { id } = await letter('original');
  here.target.repair('original');
  await here.visit(`/dlq/${id}`, async (page) => {
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByText('The input is the original one.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText(/^Resolved .* by admin$/).waitFor();
    await page.getByText('Earlier tries by people').waitFor();
  });
  await resolved(id);
});

test('a letter that is retried in the list stays where it is', async () => {
  const { id, execution } = await letter('stays');
  here.target.repair('stays');
  await here.visit(`/dlq?open=${id}`, async (page) => {
    const grid = page.getByRole('grid');
    const form = page.getByRole('region', { name: 'Retry by hand' });
    await form.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText(/^Resolved .* by admin$/).waitFor();
    const row = grid
      .getByRole('row')
      .filter({ hasText: execution.slice(-6) })
      .first();
    await row.getByText('resolved').waitFor();
    assert.equal(await row.getByRole('button', { name: 'Retry' }).count(), 0);
  });
});

test('an edited input is kept over a reload, shown as a difference, and kept exactly', async () => {
  const { id } = await letter('edited', `,"order":${BIG}`);
  here.target.repair('edited-2');
  await here.visit(`/dlq/${id}`, async (page) => {
    await page.getByLabel('With an edited input').check();
    await write(page, '{"name": ');
    await page.getByText(/^Not JSON|^This is not JSON/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Retry', exact: true }).isDisabled());
    await write(page, `{"name":"edited-2","include_crm":false,"order":${BIG}}`);
    await page.getByRole('button', { name: 'Retry with 2 changes' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Retry with 2 changes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(BIG).nth(1).waitFor();
    await assertAccessible(page, 'the difference before a retry');
    await dialog.getByRole('button', { name: 'Retry with 2 changes' }).click();
    await page.getByText(/^Resolved .* by admin$/).waitFor();
    await page.getByText('2 fields edited').waitFor();
  });
  const { retries } = await here.server.call('GET', `/api/dlq/${id}`);
  assert.equal(retries.at(-1).edited, true);
  const sent = here.target.seen.filter((each) => each.path === '/flaky/edited-2').at(-1);
  assert.match(sent.body, new RegExp(`"order":\\s*${BIG}[,}]`));
});

test('a session that ends in the middle of an edit loses nothing', async () => {
  const { id } = await letter('session');
  here.target.repair('session-2');
  await here.visit(`/dlq/${id}`, { allow: /401/ }, async (page) => {
    await page.getByLabel('With an edited input').check();
    await write(page, '{"name":"session-2","include_crm":true}');
    await page.getByRole('button', { name: 'Retry with 1 change' }).waitFor();
    await page.evaluate(() =>
      fetch('/api/session', { method: 'DELETE', headers: { 'X-Refire-Console': '1' } }),
    );
    await page.getByLabel('API key').fill(here.server.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Retry with 1 change' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry with 1 change' }).click();
    await page.getByText(/^Resolved .* by admin$/).waitFor();
  });
});

test('from the failed step, completed steps do not run again', async () => {
  const { id } = await letter('step');
  here.target.repair('step');
  const before = here.target.seen.filter((each) => each.path === '/ok/first').length;
  await here.visit(`/dlq/${id}`, async (page) => {
    await page.getByLabel('From the failed step second').check();
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText(/^Resolved .* by admin$/).waitFor();
  });
  assert.equal(here.target.seen.filter((each) => each.path === '/ok/first').length, before);
});

test('letters with the same cause, and groups that lead to as many rows', async () => {
  const { id } = await letter('cause-1');
  await letter('cause-2');
  const { same_cause: others } = await here.server.call('GET', `/api/dlq/${id}`);
  await here.visit(`/dlq/${id}`, async (page) => {
    await page.getByRole('link', { name: `${others} more with this cause` }).click();
    await page.waitForURL(/fingerprint=/);
    await until('the others are listed', async () => (await rows(page).count()) >= others + 1);
    await page.goto('/dlq?view=groups');
    const group = page.getByRole('row', { name: /letters http_status 503/ });
    const count = Number(await group.getByRole('button').textContent());
    await assertAccessible(page, 'groups of dead letters');
    await group.getByRole('button').click();
    await until('as many rows', async () => (await rows(page).count()) - 1 === count);
  });
});

test('nothing is deleted without a word; a letter that somebody else took is said so', async () => {
  const { id } = await letter('gone');
  await here.visit(`/dlq/${id}`, { allow: /401|409/ }, async (page) => {
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await statusOf(id), 'pending');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await here.server.call('DELETE', `/api/dlq/${id}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/^Deleted .* by admin$/).waitFor();
  });
});

test('by keyboard alone: find, open, retry', async () => {
  const { id, execution } = await letter('keys');
  here.target.repair('keys');
  await here.visit('/dlq', async (page) => {
    await page.getByRole('grid').getByText(execution.slice(-6)).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(execution);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`q=${execution}`));
    await until('one row is left', async () => (await rows(page).count()) === 2);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('r');
    await page.getByRole('dialog').waitFor();
    await until('the action has the focus', () =>
      page.evaluate(() => document.activeElement?.textContent === 'Retry'),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
  await resolved(id);
});

test('what was sent is text, never markup', async () => {
  const { id } = await letter('<img src=x onerror=alert(1)>');
  await here.visit(`/dlq/${id}`, async (page) => {
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    assert.equal(await page.locator('img[src="x"]').count(), 0);
  });
});

test('in Chinese, on a small screen, the suggestions are Chinese too', async () => {
  const { id } = await letter('zh');
  await here.visit(`/dlq/${id}`, { width: 390 }, async (page) => {
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.reload();
    await page.getByText('等待目標恢復').waitFor();
    await assertAccessible(page, 'a dead letter on a small screen');
  });
});
