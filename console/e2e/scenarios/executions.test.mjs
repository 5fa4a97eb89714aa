// The list of executions: filters, counts, new rows, columns, selection, keyboard.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world(async ({ server }) => {
  for (let n = 0; n < 3; n += 1) {
    await server.status(await server.execute('good', { name: `g${n}` }), 'completed');
    await server.status(await server.execute('bad', { name: `b${n}` }), 'dlq');
  }
});
const rows = (page) => page.getByRole('grid').getByRole('row');

test('filters are in the address, and the way back is one step', () =>
  here.visit('/executions', async (page) => {
    await rows(page).nth(6).waitFor();
    await page.getByRole('textbox', { name: 'Filter or search' }).fill('status:dlq workflow:bad');
    await page.keyboard.press('Enter');
    await page.waitForURL(/status=dlq&workflow=bad/);
    await until('only dead letters are shown', async () => (await rows(page).count()) === 4);
    await page.reload();
    await until('they are still', async () => (await rows(page).count()) === 4);
    await page.getByRole('button', { name: 'Remove the filter Workflow' }).click();
    await page.waitForURL((url) => url.search === '?status=dlq');
    await page.goBack();
    await page.waitForURL(/workflow=bad/);
  }));

test('what is no filter is named, and nothing matching says by which filters', () =>
  here.visit('/executions?status=nonsense&workflow=nobody', async (page) => {
    await page.getByText('Not a filter: status:nonsense').waitFor();
    await page.getByText('Nothing matches').waitFor();
    await page.getByText('Workflow: nobody').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await rows(page).nth(3).waitFor();
  }));

test('each number leads to as many rows', () =>
  here.visit('/executions', async (page) => {
    await page.getByRole('button', { name: /^dead letter \d/ }).click();
    await page.waitForURL(/status=dlq/);
    const { by_status } = await here.server.call('GET', '/api/executions/count?status=dlq');
    await until(
      'the rows are as many',
      async () => (await rows(page).count()) - 1 === by_status.dlq,
    );
  }));

test('new rows wait behind a pill while somebody is in the table', () =>
  here.visit('/executions?workflow=good', async (page) => {
    await rows(page).nth(2).waitFor();
    const first = await rows(page).nth(1).textContent();
    await page.getByRole('grid').hover();
    await here.server.execute('good', { name: 'new' });
    const pill = page.getByRole('button', { name: '1 new' });
    await pill.waitFor();
    assert.ok((await rows(page).nth(1).textContent()).includes(first.slice(9, 25)));
    await pill.click();
    await until(
      'the new row is first',
      async () => (await rows(page).nth(1).textContent()) !== first,
    );
  }));

test('chosen columns are kept', () =>
  here.visit('/executions', async (page) => {
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Priority' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Priority' }).waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Priority' }).waitFor();
  }));

test('the keyboard alone walks, selects and opens', () =>
  here.visit('/executions?workflow=good', async (page) => {
    await rows(page).nth(2).waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    await page.keyboard.press('Space');
    await page.getByRole('gridcell').getByText('"name"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('"name"').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/executions\/exec_/);
  }));

test('selected executions are cancelled together', async () => {
  const ids = [];
  for (const name of ['one', 'two']) ids.push(await here.server.execute('slow', { name }));
  await here.visit('/executions?workflow=slow', async (page) => {
    await rows(page).nth(2).waitFor();
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await page.getByRole('button', { name: 'Cancel…' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2' }).click();
    await page.getByText('2 of 2 done').waitFor();
    for (const id of ids) await here.server.status(id, 'cancelled');
    for (const name of ['one', 'two']) here.target.repair(name);
  });
});

test('the list can be used by everybody', () =>
  here.visit('/executions?status=dlq&from=-24h', async (page) => {
    await rows(page).nth(1).waitFor();
    await assertAccessible(page, 'executions');
  }));

test('at 390 pixels nothing but the table scrolls sideways', () =>
  here.visit('/executions', { width: 390, height: 800 }, async (page) => {
    await rows(page).nth(1).waitFor();
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(over, 0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Executions' }).waitFor();
  }));
