// Notifications: a channel by its form, a test that asks to look, a broken channel, deliveries, sending again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world();
/** A channel that is not right yet has no look. */
const REFUSED = /status of 40[01] /;
const channels = async () => (await here.server.call('GET', '/api/channels')).items;

test('made by the form: wrong fields are named, the secret shows once, the test asks to look', () =>
  here.visit('/channels', { allow: REFUSED }, async (page) => {
    await page.getByText('Nobody is told yet').waitFor();
    await assertAccessible(page, 'no channels');
    await page.getByRole('button', { name: 'New channel' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Ops');
    await dialog.getByLabel('Address').fill('https://acme.webhook.office.com/webhookb2/x');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByText(/retired/)
      .first()
      .waitFor();
    await dialog.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Webhook' }).click();
    await dialog.getByLabel('Address').fill(`${here.target.url}/ok/hook`);
    await dialog.getByLabel('dead letters', { exact: true }).check();
    await dialog.getByRole('region', { name: 'How it looks' }).locator('.cm-content').waitFor();
    await assertAccessible(page, 'the form of a channel');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Ops' });
    await row.getByText('enabled').waitFor();
    await row.getByRole('button', { name: 'Test…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send the test' }).click();
    await page.getByText(/was the signature right/).waitFor();
    await assertAccessible(page, 'a test');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    assert.ok(here.target.seen.some((each) => each.path === '/ok/hook'));
    await row.getByText('Ops').click();
    await page
      .getByRole('dialog')
      .getByText(/Stored, and not shown/)
      .first()
      .waitFor();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Operations');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row').filter({ hasText: 'Operations' }).waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await page.getByRole('row').filter({ hasText: 'accepted' }).first().waitFor();
    await assertAccessible(page, 'deliveries');
  }));

test('a dead letter is told; a channel that fails for good is broken, and a message is sent again', async () => {
  const { server } = here;
  const made = await server.call('POST', '/api/channels', {
    name: 'Gone',
    type: 'webhook',
    config: { url: `${here.target.url}/fail/404` },
  });
  await server.status(await server.execute('bad', { name: 'told' }), 'dlq');
  await until(
    'it is broken',
    async () => (await channels()).find((each) => each.id === made.id)?.broken,
  );
  await here.visit('/channels', async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'Gone' });
    await row.getByText('broken').waitFor();
    await assertAccessible(page, 'a broken channel');
    await page.goto('/channels?tab=deliveries');
    const failed = page.getByRole('row').filter({ hasText: 'failed' }).first();
    await failed.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The message is sent again.').waitFor();
    await page.goto('/');
    await page.getByText(/Gone/).first().waitFor();
    await page.goto('/channels');
    await row.getByRole('switch').click({ force: true });
    await row.getByText('disabled').waitFor();
    await row.getByRole('button', { name: 'Actions for Gone' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
  });
});

test('in Chinese, on a small screen', () =>
  here.visit('/channels', { width: 390 }, async (page) => {
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.reload();
    await page.getByRole('heading', { name: '通知' }).waitFor();
    await assertAccessible(page, 'channels on a small screen');
  }));
