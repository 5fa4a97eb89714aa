// Bulk jobs: dry run with samples, transforms judged on real letters, progress, pause, items, archived letters,
// and executions that are run again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, paste } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world(async ({ server, target }) => {
  await server.call(
    'PUT',
    '/api/workflows/orders',
    `id: orders
name: Orders
retry: { maxRetries: 1, initialDelay: 10ms, strategy: fixed, jitter: none }
steps:
  - id: book
    type: http
    config: { method: POST, url: "${target.url}/flaky/\${input.name}", body: "\${input}" }
`,
  );
});

/** So many letters of one name, all waiting. */
async function letters(name, count) {
  const { server } = here;
  await server.call(
    'POST',
    '/api/workflows/orders/execute-batch',
    Array.from({ length: count }, (_, n) => ({ input: { name, n, include_crm: true } })),
  );
  return until(`${count} letters`, async () => {
    const { items } = await server.call('GET', '/api/dlq?workflow_id=orders&limit=1000');
    const found = items.filter((each) => each.status === 'pending');
    const named = [];
    for (const each of found) {
      const letter = await server.call('GET', `/api/dlq/${each.id}`);
      if (letter.input_data.name === name) named.push(letter);
    }
    return named.length === count && named;
  });
}

const rows = (page) => page.getByRole('grid').getByRole('row');
const row = (page, letter) =>
  page.getByRole('row').filter({ hasText: letter.execution_id.slice(-6) });
const menu = async (page, action, nth) => {
  await page.getByRole('button', { name: 'Bulk', exact: true }).click();
  await page.getByRole('menuitem', { name: action }).nth(nth).click();
};

test('ticked letters: what would become of them, a changed input, and the job to its end', async () => {
  const made = await letters('ticked', 3);
  here.target.repair('fixed');
  await here.visit('/dlq', { allow: /status of 40[01] / }, async (page) => {
    for (const letter of made) await row(page, letter).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Retry…' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 ticked dead letters').waitFor();
    await dialog.getByText('This is about 3 dead letters.').waitFor();
    await dialog.getByText('Lay over').click();
    const editor = dialog.getByRole('textbox', { name: 'Change the inputs' });
    await paste(page, editor, '{"name": ');
    await dialog.getByText(/This is not JSON/).waitFor();
    assert.ok(
      await dialog
        .getByRole('button', { name: /^Retry/ })
        .last()
        .isDisabled(),
    );
    await paste(page, editor, '{"name": "${input.missing}"}');
    await dialog.getByText(/3 of 3 could not be done/).waitFor();
    await paste(page, editor, '{"name": "fixed", "was": "${input.name}", "include_crm": null}');
    await dialog.getByText('"was": "ticked"').waitFor();
    await assertAccessible(page, 'the bulk dialog');
    await dialog.getByRole('button', { name: 'Retry 3' }).click();
    await page.waitForURL(/\/bulk\/bulk_/);
    await page.getByText('3 of 3 done').waitFor();
    await page.getByText('completed', { exact: true }).first().waitFor();
    await until('each is listed', async () => (await rows(page).count()) === 4);
    await page.getByText('"was": "${input.name}"').waitFor();
    await assertAccessible(page, 'a bulk job');
    await page.getByRole('button', { name: 'done 3' }).click();
    await page.waitForURL(/outcome=ok/);
  });
  for (const { id } of made)
    await until('resolved', async () => {
      const letter = await here.server.call('GET', `/api/dlq/${id}`);
      return letter.status === 'resolved';
    });
  const sent = here.target.seen
    .filter((each) => each.path === '/flaky/fixed')
    .map((each) => JSON.parse(each.body));
  assert.equal(sent.length, 3);
  for (const body of sent) {
    assert.equal(body.was, 'ticked');
    assert.ok(!('include_crm' in body));
  }
});

test('all that match, slowly: pause, resume, cancel', async () => {
  await letters('slowly', 30);
  await here.visit('/dlq?workflow=orders&status=pending', async (page) => {
    await rows(page).nth(3).waitFor();
    await menu(page, 'Retry…', 0);
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/All that match: Workflow: orders/).waitFor();
    await dialog.getByText('This is about 30 dead letters.').waitFor();
    await dialog.getByLabel('At most each second').fill('2');
    await dialog.getByText(/about 15/).waitFor();
    await dialog.getByRole('button', { name: 'Retry 30' }).click();
    await page.waitForURL(/\/bulk\/bulk_/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The job is paused.').waitFor();
    await page.getByText('paused', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('running', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    await page.goto('/bulk');
    await page.getByRole('row').filter({ hasText: 'cancelled' }).first().waitFor();
    await assertAccessible(page, 'bulk jobs');
    await page.getByRole('row').filter({ hasText: 'cancelled' }).first().click();
    await page.waitForURL(/\/bulk\/bulk_/);
  });
});

test('more than a hundred are deleted only by typing how many', async () => {
  await here.server.call(
    'POST',
    '/api/workflows/bad/execute-batch',
    Array.from({ length: 120 }, (_, n) => ({ input: { name: `many-${n}` } })),
  );
  await until('they have failed', async () => {
    const { count } = await here.server.call('GET', '/api/dlq/summary?workflow_id=bad');
    return count === 120;
  });
  await here.visit('/dlq?workflow=bad', async (page) => {
    await rows(page).nth(10).waitFor();
    await menu(page, 'Delete…', 0);
    const dialog = page.getByRole('dialog');
    const start = dialog.getByRole('button', { name: /^Delete/ });
    const typed = dialog.getByLabel(/Type 120/);
    await typed.waitFor();
    assert.ok(await start.isDisabled());
    await typed.fill('12');
    assert.ok(await start.isDisabled());
    await typed.fill('120');
    await start.click();
    await page.getByText('120 of 120 done').waitFor();
  });
  const left = await here.server.call('GET', '/api/dlq/summary?workflow_id=bad&status=pending');
  assert.equal(left.count, 0);
});

test('the second page of a list with a relative range is read', () =>
  here.visit('/dlq?workflow=bad&status=deleted', async (page) => {
    await rows(page).nth(10).waitFor();
    await page.getByRole('grid').focus();
    await until('all are loaded', async () => {
      await page.keyboard.press('End');
      return (await page.getByRole('grid').getAttribute('aria-rowcount')) === '121';
    });
  }));

test('executions: one is run again, several by a job', async () => {
  const { server } = here;
  const id = await server.execute('good', { name: 'again' });
  await server.status(id, 'completed');
  await here.visit(`/executions/${id}`, async (page) => {
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL(
      (url) => /executions\/exec_/.test(url.pathname) && !url.pathname.endsWith(id),
    );
    await page.getByText('completed').first().waitFor();
    await page.goto('/executions?workflow=good');
    await rows(page).nth(2).waitFor();
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await page.getByRole('button', { name: 'Run again…' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 ticked executions').waitFor();
    await dialog.getByRole('button', { name: 'Run again 2' }).click();
    await page.getByText('2 of 2 done').waitFor();
  });
  const { total } = await server.call('GET', '/api/executions/count?workflow=good');
  assert.equal(total, 4);
});

test('archived letters are a filter, and nothing says what to do', () =>
  here.visit('/dlq?archived=true', async (page) => {
    await page.getByText('Archived (more than 30 days)').first().waitFor();
    await page.getByText('Nothing matches').waitFor();
    await page.goto('/bulk?state=paused');
    await page.getByText('Nothing matches').waitFor();
  }));

test('in Chinese, on a small screen', () =>
  here.visit('/bulk', { width: 390 }, async (page) => {
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.reload();
    await page.getByRole('heading', { name: '批次作業' }).waitFor();
    await assertAccessible(page, 'bulk jobs on a small screen');
  }));
