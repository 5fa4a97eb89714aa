// Alerts: a rule that is tried while it is typed, what fires, who is at it, silences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world();
/** A rule that is not right yet cannot be tried. */
const REFUSED = /status of 40[01] /;
const rules = async () => (await here.server.call('GET', '/api/alert-rules')).items;

test('a rule: wrong fields are named, what it finds is shown, it is saved, changed and switched', () =>
  here.visit('/alerts?tab=rules', { allow: REFUSED }, async (page) => {
    await page.getByRole('row').filter({ hasText: 'Executions fail' }).waitFor();
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/finds nothing now/).waitFor();
    await dialog.getByLabel('Name').fill('Too many letters');
    await dialog.getByRole('combobox', { name: 'Watches' }).click();
    await page.getByRole('option', { name: 'dead letters pile up' }).click();
    await dialog.getByLabel('More than').fill('many');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByText(/number/)
      .first()
      .waitFor();
    await dialog.getByLabel('More than').fill('1');
    await assertAccessible(page, 'the form of a rule');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'Too many letters' });
    await row.getByText(/above 1/).waitFor();
    await assertAccessible(page, 'rules');
    await row.getByText('Too many letters').click();
    await page.getByRole('dialog').getByLabel('Within').fill('1h');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await row.getByText(/within 1h/).waitFor();
    const made = (await rules()).find((each) => each.name === 'Too many letters');
    assert.equal(made.window, '1h');
    await page.getByRole('switch', { name: 'Many dead letters is on' }).click({ force: true });
    await until('it is off', async () => {
      const rule = (await rules()).find((each) => each.name === 'Many dead letters');
      return rule.enabled === false;
    });
  }));

test('what fires is listed, a person is at it, and a silence keeps people in peace', async () => {
  const { server } = here;
  for (let n = 0; n < 3; n += 1)
    await server.status(await server.execute('bad', { name: `a${n}` }), 'dlq');
  await until('it fires', async () => {
    const { items } = await server.call('GET', '/api/alerts?phase=firing');
    return items.some((each) => each.rule === 'Too many letters');
  });
  await here.visit('/alerts', async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'Too many letters' });
    await row.getByText('firing').waitFor();
    await row.getByText('bad').waitFor();
    await assertAccessible(page, 'alerts');
    await row.getByRole('button', { name: 'I am at it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I am at it' }).click();
    await row.getByText('admin').waitFor();
    await row.getByRole('button', { name: 'Silence…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('4 hours').click();
    await dialog.getByLabel('Why').fill('maintenance');
    await assertAccessible(page, 'a new silence');
    await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
    await page.getByRole('tab', { name: 'Silences' }).click();
    const silence = page.getByRole('row').filter({ hasText: 'maintenance' });
    await silence.getByText('active').waitFor();
    await silence.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.getByText('The silence is over.').waitFor();
    await page.goto('/');
    await page
      .getByText(/Too many letters|dead letters/i)
      .first()
      .waitFor();
  });
});

test('in Chinese, on a small screen', () =>
  here.visit('/alerts?tab=rules', { width: 390 }, async (page) => {
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.reload();
    await page.getByRole('heading', { name: '告警' }).waitFor();
    await page.getByRole('row').nth(2).waitFor();
    await assertAccessible(page, 'rules on a small screen');
  }));
