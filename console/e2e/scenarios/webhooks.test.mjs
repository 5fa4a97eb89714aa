// Webhooks: a secret that shows once, tests that are signed, conditions judged while they are typed,
// requests with their reasons, refused ones that are checked again, two secrets, and none at all.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertAccessible, logIn, openPage, startBrowser } from '../browser.mjs';
import { startServer, until } from '../server.mjs';
import { startTarget } from '../target.mjs';

/** Conditions that are not complete yet are refused by the preview. */
const REFUSED = /status of 400/;
const SECRET = 'the-secret-that-the-sender-made-itself';

describe('webhooks', () => {
  let server;
  let target;
  let browser;
  const open = async (path, options) => {
    const tab = await openPage(browser, server, options);
    await logIn(tab.page, server, path);
    return tab;
  };
  const make = (settings) =>
    server.call('POST', '/api/workflows/incident/triggers', {
      trigger_type: 'webhook',
      authentication: 'hmac',
      ...settings,
    });
  const requests = async (id, query = '') =>
    (await server.call('GET', `/api/triggers/${id}/requests${query}`)).items;
  /** Sends as the sender would, signed with a secret. */
  const send = async (trigger, body, secret) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    if (secret)
      headers['X-Signature'] = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    return fetch(trigger.webhook_url, { method: 'POST', headers, body: text });
  };
  const panel = (page, name) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name }) });

  before(async () => {
    [server, target, browser] = await Promise.all([startServer(), startTarget(), startBrowser()]);
    await server.call(
      'PUT',
      '/api/workflows/incident',
      `id: incident\nretry: false\nsteps:\n  - id: call\n    type: http\n    config: { url: "${target.url}/ok" }\n`,
    );
  });
  after(async () => {
    await browser?.close();
    await target?.stop();
    await server?.stop();
  });

  it('shows a new secret once, copies the address, and starts an execution by a signed test', async () => {
    const { page, context, close } = await open('/workflows/incident/triggers/new?type=webhook', {
      allow: REFUSED,
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByLabel('Signature header').fill('X-ServiceNow-Signature');
    await page.getByRole('button', { name: 'Condition', exact: true }).click();
    await page.getByLabel('JSON path').fill('$.event_type');
    await page.getByRole('textbox', { name: 'Value' }).fill('incident.closed');
    // Judged on the sample while it is typed.
    await page.getByText('found "incident.created"').waitFor();
    await page.getByRole('textbox', { name: 'Value' }).fill('incident.created');
    await page.getByText('ok on sample').waitFor();
    await assertAccessible(page, 'new webhook');
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('it is never shown again').waitFor();
    const secret = await dialog.locator('code').textContent();
    assert.ok(secret.length >= 24);
    await page.keyboard.press('Escape');
    await assertAccessible(page, 'secret');
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.waitForURL('**/triggers/trg_*');
    const address = await page.getByLabel('Webhook URL (read-only)').inputValue();
    assert.match(address, /\/webhooks\/wh_\w+$/);
    assert.ok(!(await page.content()).includes(secret));

    await panel(page, 'Webhook URL').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied').first().waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);

    await page.getByRole('button', { name: 'Send test request' }).click();
    const result = panel(page, 'Test the webhook').getByRole('status');
    await result.getByText('the sender gets 200').waitFor();
    await result.getByText('signature ok').waitFor();
    const link = result.getByRole('link');
    const id = (await link.getAttribute('href')).split('/').pop();
    await server.status(id, 'completed');
    await panel(page, 'Requests').getByText('Test', { exact: true }).nth(1).waitFor();
    await assertAccessible(page, 'webhook');

    // A dry run signs and sends nothing.
    await page.getByRole('switch', { name: 'Dry run' }).click();
    await page.getByRole('button', { name: 'Sign', exact: true }).click();
    await result.getByText('Signed, not sent').waitFor();
    assert.equal((await requests(page.url().split('/').pop())).length, 1);
    await close();
  });

  it('copies on plain HTTP, where browsers hide the clipboard', async () => {
    const trigger = await make();
    const { page, close } = await open('/triggers');
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
    });
    await page.goto(`/triggers/${trigger.id}`);
    await panel(page, 'Webhook URL').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied').first().waitFor();
    await close();
  });

  it('names what is wrong with a condition, and keeps a text apart from a number', async () => {
    const trigger = await make();
    const { page, close } = await open(`/triggers/${trigger.id}`, { allow: REFUSED });
    await page.getByRole('button', { name: 'Condition', exact: true }).click();
    await page.getByLabel('JSON path').fill('$.a[');
    await page.getByText(/is not a JSONPath/).waitFor();
    await page.getByLabel('JSON path').fill('$.priority');
    const value = page.getByRole('textbox', { name: 'Value' });
    await value.fill('2');
    await page.getByText('number', { exact: true }).waitFor();
    await page.getByText('found "2"').waitFor();
    await value.fill('"2"');
    await page.getByText('ok on sample').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as v2').waitFor();
    const saved = await server.call('GET', `/api/triggers/${trigger.id}`);
    assert.deepEqual(saved.filters, [{ json_path: '$.priority', operator: 'equals', value: '2' }]);
    await page.getByRole('button', { name: 'Rate limit' }).click();
    await page.getByLabel('Requests per second').fill('0');
    await page.getByText(/0 is not a whole number/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await close();
  });

  it('logs a bad signature with its address, and runs it once the secret is right', async () => {
    const trigger = await make();
    for (const incident_id of ['INC1', 'INC2', 'INC3'])
      assert.equal((await send(trigger, { incident_id }, SECRET)).status, 401);
    assert.equal((await send(trigger, { incident_id: 'INC4' })).status, 401);
    await until('they are in the log', async () => (await requests(trigger.id)).length === 4);

    const { page, close } = await open(`/triggers/${trigger.id}`);
    const log = page.getByRole('region', { name: 'Requests' });
    await log.getByText('127.0.0.1').first().waitFor();
    await log.getByText('the signature does not match the body and the secret').first().waitFor();
    await panel(page, /^Quarantine 4/)
      .getByText('the header X-Signature is missing')
      .waitFor();

    await page.getByRole('button', { name: 'Regenerate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From the sender').check();
    await dialog.getByLabel('Secret key').fill(SECRET);
    await assertAccessible(page, 'new secret');
    await dialog.getByRole('button', { name: 'Regenerate' }).click();
    await page.getByText('The secret is replaced').waitFor();

    // The verdict comes first and starts nothing.
    await page.getByRole('button', { name: 'Re-check 4…' }).click();
    await dialog.getByText('4 looked at: 3 would start, 1 would still be refused').waitFor();
    assert.equal((await requests(trigger.id, '?status=triggered')).length, 0);
    await assertAccessible(page, 'verdict');
    await dialog.getByRole('button', { name: 'Run 3' }).click();
    await dialog.getByText('4 checked: 3 started, 1 still refused').waitFor();
    assert.equal((await requests(trigger.id, '?status=triggered')).length, 3);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await panel(page, /^Quarantine 1/).waitFor();

    // The log, with headers, body and reason of a request.
    await page.getByRole('link', { name: 'Full log' }).click();
    await page.waitForURL('**/requests');
    await page.getByRole('row').filter({ hasText: 'auth failed' }).click();
    await page.getByText('user-agent').waitFor();
    await page.getByText('"INC4"').waitFor();
    await page.getByRole('button', { name: 'Compare with the last accepted' }).click();
    await page.getByText('"INC3"').waitFor();
    await assertAccessible(page, 'request');
    await close();
  });

  it('accepts two secrets for a while', async () => {
    const trigger = await make();
    const { page, close } = await open(`/triggers/${trigger.id}`);
    await page.getByRole('button', { name: 'Regenerate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Regenerate' }).click();
    await dialog.getByText('it is never shown again').waitFor();
    const secret = await dialog.locator('code').textContent();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText('The previous secret is valid until').waitFor();
    assert.equal((await send(trigger, { incident_id: 'OLD' }, trigger.secret)).status, 200);
    assert.equal((await send(trigger, { incident_id: 'NEW' }, secret)).status, 200);
    await close();
  });

  it('asks before nothing is verified', async () => {
    const { page, close } = await open('/workflows/incident/triggers/new?type=webhook');
    await page.getByText('None – not recommended').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Accept requests without verification?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await page.getByLabel('HMAC-SHA256').isChecked());
    await page.getByText('None – not recommended').click();
    await dialog.getByRole('button', { name: 'Accept from anyone' }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/triggers/trg_*');
    const made = await server.call('GET', `/api/triggers/${page.url().split('/').pop()}`);
    assert.equal(made.authentication, 'none');
    await page.getByText('Nothing tells the real sender from others.').waitFor();
    await close();
  });

  it('guides through a sender and sets the form for it', async () => {
    const trigger = await make();
    const { page, close } = await open(`/triggers/${trigger.id}`);
    await page.getByRole('button', { name: 'Guide' }).click();
    await page.getByRole('menuitem', { name: 'ServiceNow' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Connect ServiceNow').waitFor();
    await dialog.getByText(trigger.webhook_id).first().waitFor();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await assertAccessible(page, 'guide');
    await dialog.getByRole('button', { name: 'Set the form for it' }).click();
    assert.equal(await page.getByLabel('Signature header').inputValue(), 'X-ServiceNow-Signature');
    await page.getByRole('button', { name: 'curl', exact: true }).click();
    await dialog.getByText(/curl -sSi/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await close();
  });
});
