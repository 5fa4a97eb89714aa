// Schedules: made from a template with words and planned times, judged while typing, paused with the
// question of catching up, their ledger and backfill; forms that lose nothing.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertAccessible, logIn, openPage, paste, startBrowser } from '../browser.mjs';
import { startServer, until } from '../server.mjs';
import { startTarget } from '../target.mjs';

/** A preview of settings that are not right yet is refused. */
const REFUSED = /status of 400/;

describe('triggers', () => {
  let server;
  let target;
  let browser;
  const open = async (path, options) => {
    const tab = await openPage(browser, server, options);
    await logIn(tab.page, server, path);
    return tab;
  };
  const make = (workflow, settings) =>
    server.call('POST', `/api/workflows/${workflow}/triggers`, settings);
  const read = (id) => server.call('GET', `/api/triggers/${id}`);
  const slots = async (id) =>
    (await server.call('GET', `/api/triggers/${id}/slots?limit=200`)).items;
  const single = (id, path) =>
    `id: ${id}\nretry: false\nsteps:\n  - id: call\n    type: http\n    config: { url: "${target.url}${path}" }\n`;

  before(async () => {
    [server, target, browser] = await Promise.all([startServer(), startTarget(), startBrowser()]);
    for (const [id, path] of [
      ['server_health_check', '/ok'],
      ['slow_job', '/slow/job'],
      ['failing', '/fail/400'],
    ])
      await server.call('PUT', `/api/workflows/${id}`, single(id, path));
  });
  after(async () => {
    await browser?.close();
    await target?.stop();
    await server?.stop();
  });

  const expression = (page) => page.getByLabel('Cron expression');
  const chooseZone = async (page, typed, name) => {
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await zone.fill(typed);
    await page.getByRole('option', { name }).click();
  };
  const plan = (page) =>
    page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Plan', exact: true }) });
  const ledger = (page) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: 'Ledger' }) });
  const strip = (page) => page.getByRole('listbox', { name: 'Every planned time, oldest first' });

  it('makes one from a template, with words and the next two times in its zone', async () => {
    const { page, close } = await open('/workflows/server_health_check/triggers/new?type=cron');
    await page.getByRole('button', { name: 'Mondays 09:00' }).click();
    await chooseZone(page, 'taipei', 'Asia/Taipei (UTC+8)');
    await page.getByText('At 09:00 on Monday (Asia/Taipei)').waitFor();
    assert.equal(await expression(page).inputValue(), '0 9 * * MON');
    const lines = plan(page).getByRole('listitem');
    await until('two planned times', async () => (await lines.count()) === 2);
    for (const line of await lines.allTextContents()) assert.match(line, /09:00:00 \+08:00/);
    await page.getByRole('button', { name: 'Show 10' }).click();
    await until('ten planned times', async () => (await lines.count()) === 10);

    // The field under the cursor is explained.
    await expression(page).focus();
    await page.keyboard.press('End');
    await page.getByText('0–7 or SUN–SAT, MON#1 first Monday, 5L last Friday').waitFor();
    await page.keyboard.press('Home');
    await page.getByText('0–59').waitFor();
    await assertAccessible(page, 'new trigger');

    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/triggers/trg_*');
    const id = page.url().split('/').pop();
    const made = await read(id);
    assert.deepEqual(
      [made.cron_expression, made.timezone, made.enabled],
      ['0 9 * * MON', 'Asia/Taipei', true],
    );
    await page.getByRole('heading', { name: 'Trigger of server_health_check' }).waitFor();
    await page.getByText('Nothing has run yet.').waitFor();
    await assertAccessible(page, 'trigger');
    await close();
  });

  it('names the wrong field while it is typed, and again when it is saved', async () => {
    const { page, close } = await open('/workflows/server_health_check/triggers/new?type=cron', {
      allow: REFUSED,
    });
    await expression(page).fill('61 * * * *');
    await page.getByText('minute: 61 is not from 0 to 59').waitFor();
    await page.getByText('The plan appears when the marked fields are right.').waitFor();
    await expression(page).fill('0 0 30 2 *');
    await page.getByText(/no month in `2` has a day `30`/).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Nothing was saved: 1 field is wrong.').waitFor();
    await expression(page).fill('0 * * * *');
    await page.getByText(/^Every hour on the hour/).waitFor();
    await page.getByRole('button', { name: 'Jitter, start and end' }).click();
    await page.getByLabel('Jitter', { exact: true }).fill('soon');
    await page.getByText(/`soon` is not a length of time/).waitFor();
    await assertAccessible(page, 'a wrong field');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await close();
  });

  it('says what the next change of the clock does', async () => {
    const { page, close } = await open('/workflows/server_health_check/triggers/new?type=cron');
    await expression(page).fill('30 2 * * *');
    await chooseZone(page, 'berlin', /Europe\/Berlin/);
    await page.getByText('When the clocks go forward past a planned time').waitFor();
    await plan(page)
      .getByText(/02:30:00 does not exist on that day/)
      .waitFor();
    await page.getByRole('button', { name: 'Clock changes' }).click();
    await page.getByRole('combobox', { name: 'A time that does not exist' }).click();
    await page.getByRole('option', { name: 'does not fire that day' }).click();
    await plan(page)
      .getByText(/02:30:00 does not exist on that day/)
      .waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await close();
  });

  it('makes intervals, times of weeks and months, and moments', async () => {
    const { page, close } = await open(
      '/workflows/server_health_check/triggers/new?type=interval',
      {
        allow: REFUSED,
      },
    );
    await page.getByRole('textbox', { name: 'Every', exact: true }).fill('13h');
    await page.getByText(/^Every 13 hours/).waitFor();
    await page.getByLabel('Daily, weekly, monthly').check();
    await page.getByText('Weekly', { exact: true }).click();
    await page.getByRole('button', { name: 'Fri', exact: true }).click();
    await page.getByText(/^At 09:00 on Monday and Friday/).waitFor();
    await page.getByText('Monthly', { exact: true }).click();
    await page.getByLabel('Days of the month').fill('1, last');
    await page.getByLabel('Times of the day').fill('18:00');
    await page.getByText(/^At 18:00 on day 1 of the month and the last day of the month/).waitFor();
    await page.getByLabel('Once', { exact: true }).check();
    await page.getByLabel('Moments').fill('2036-12-24T18:00');
    await plan(page).getByText('2036-12-24 18:00:00').waitFor();
    await page.getByLabel('Daily, weekly, monthly').check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/triggers/trg_*');
    const made = await read(page.url().split('/').pop());
    await page.getByRole('heading', { name: 'Trigger of server_health_check' }).waitFor();
    assert.deepEqual(made.monthly, { dayOfMonth: [1, 'last'], time: '18:00' });

    // The kind of a schedule can change, a schedule stays one.
    assert.ok(await page.getByLabel('Cron', { exact: true }).isDisabled());
    await page.getByLabel('Interval').check();
    await page.getByRole('textbox', { name: 'Every', exact: true }).fill('2d');
    await page.getByText(/^Every 2 days/).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved as v2').waitFor();
    assert.equal((await read(made.id)).every, '2d');
    await close();
  });

  it('asks about catching up, with the count, and pauses at once', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'cron',
      cron_expression: '* * * * * *',
      name: 'Every second',
      misfire: 'fire_all',
    });
    const { page, close } = await open('/triggers?q=Every+second', { allow: REFUSED });
    const row = page.getByRole('row').filter({ hasText: 'Every second' }).first();
    await row
      .getByRole('switch', { name: /^Pause/ })
      .locator('xpath=..')
      .click();
    await page.getByText('“Every second” is paused').waitFor();
    const paused = await read(made.id);
    assert.equal(paused.enabled, false);
    await until(
      'three times have passed',
      () => Date.now() > Date.parse(paused.updated_at) + 4_000,
    );
    await row
      .getByRole('switch', { name: /^Enable/ })
      .locator('xpath=..')
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^\d+ planned times passed while it was paused/).waitFor();
    await assertAccessible(page, 'catch up');
    await dialog.getByLabel('Catch up with them').check();
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await page.getByText(/is enabled; \d+ missed times start now/).waitFor();
    await until('they are in the ledger', async () =>
      (await slots(made.id)).some((slot) => slot.status === 'late'),
    );
    await assertAccessible(page, 'triggers');
    await server.call('DELETE', `/api/triggers/${made.id}`);
    await close();
  });

  it('shows every planned time with its reason, by keys and as a table, and runs the missed', async () => {
    const made = await make('slow_job', {
      trigger_type: 'cron',
      cron_expression: '* * * * * *',
      overlap: 'skip',
    });
    await until('one is skipped', async () =>
      (await slots(made.id)).some((slot) => slot.reason === 'overlap'),
    );
    target.repair('job');
    await server.call('POST', `/api/triggers/${made.id}/disable`);
    const paused = await read(made.id);
    await until('a time has passed', () => Date.now() > Date.parse(paused.updated_at) + 2_500);
    await server.call('POST', `/api/triggers/${made.id}/enable`);
    await until('a stretch was paused', async () =>
      (await slots(made.id)).some((slot) => slot.reason === 'paused'),
    );
    // From here on nothing new is planned for a long time.
    await server.call('PATCH', `/api/triggers/${made.id}`, { cron_expression: '0 0 1 1 *' });

    const { page, close } = await open(`/triggers/${made.id}`);
    for (const look of [/^fired \d/, /^overlap \d/, /^paused \d/])
      await ledger(page).getByText(look).first().waitFor();
    await strip(page).focus();
    await page.keyboard.press('Home');
    await ledger(page)
      .getByText(/ · fired · after /)
      .waitFor();
    await page.keyboard.press('ArrowRight');
    await ledger(page)
      .getByText(/ · overlap/)
      .first()
      .waitFor();
    await page.keyboard.press('Shift+End');
    await ledger(page).getByRole('button', { name: 'Backfill these…' }).waitFor();
    await assertAccessible(page, 'ledger');
    await ledger(page).getByRole('switch', { name: 'As a table' }).click();
    await ledger(page).getByText('the previous execution still ran').first().waitFor();

    await page.goto(`/triggers/${made.id}/slots?status=skipped`);
    await page.getByRole('row').filter({ hasText: 'the trigger was disabled' }).first().waitFor();
    await assertAccessible(page, 'full ledger');
    await close();
  });

  it('runs what was missed, after showing it', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'cron',
      cron_expression: '* * * * * *',
      enabled: false,
    });
    await server.call('POST', `/api/triggers/${made.id}/enable`);
    await server.call('POST', `/api/triggers/${made.id}/disable`);
    const paused = await read(made.id);
    await until('times have passed', () => Date.now() > Date.parse(paused.updated_at) + 3_500);
    await server.call('POST', `/api/triggers/${made.id}/enable`);
    await until('they are in the ledger', async () =>
      (await slots(made.id)).some((slot) => slot.reason === 'paused' && slot.count > 1),
    );
    const { page, close } = await open(`/triggers/${made.id}`);
    await page.getByRole('button', { name: /^Backfill missed \(\d+\)/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^\d+ planned times would run:/).waitFor();
    await assertAccessible(page, 'backfill');
    await dialog.getByRole('button', { name: /^Run \d+/ }).click();
    await dialog.getByText(/^\d+ executions were started/).waitFor();
    const link = dialog.getByRole('link').first();
    assert.match(await link.getAttribute('href'), /\/executions\/exec_/);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await ledger(page)
      .getByText(/^run later \d/)
      .first()
      .waitFor();
    await server.call('DELETE', `/api/triggers/${made.id}`);
    await close();
  });

  it('shows the last executions with their results', async () => {
    const made = await make('failing', { trigger_type: 'schedule', every: '1s' });
    await until('one has failed', async () => (await slots(made.id)).length > 1);
    const { page, close } = await open(`/triggers/${made.id}`);
    const history = page.getByRole('region', { name: 'Last 50 executions' });
    await history.getByText('dead letter').first().waitFor();
    await history
      .getByText(/the target answered 400/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Full history' }).click();
    await page.waitForURL(`**/triggers/${made.id}/slots`);
    await server.call('DELETE', `/api/triggers/${made.id}`);
    await close();
  });

  it('keeps what is typed over a reload, and asks before it is left', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'cron',
      cron_expression: '0 3 * * *',
      input: { kind: 'nightly' },
    });
    const { page, close } = await open(`/triggers/${made.id}`);
    await expression(page).fill('15 4 * * *');
    await page.getByText(/^At 04:15 every day/).waitFor();
    await page.reload();
    await page.getByText(/^What you typed .* is restored/).waitFor();
    assert.equal(await expression(page).inputValue(), '15 4 * * *');
    await page.getByRole('link', { name: 'Executions' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Leave without saving?').waitFor();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await dialog.waitFor({ state: 'detached' });

    // Somebody else saves meanwhile: both are shown, and nothing is lost without a word.
    await server.call('PATCH', `/api/triggers/${made.id}`, { jitter: '5m' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Two changes of the same trigger').waitFor();
    await dialog.getByText('"jitter"').waitFor();
    await assertAccessible(page, 'conflict');
    await dialog.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Saved as v3').waitFor();
    const saved = await read(made.id);
    assert.deepEqual([saved.cron_expression, saved.jitter], ['15 4 * * *', undefined]);
    assert.deepEqual(saved.input, { kind: 'nightly' });
    await close();
  });

  it('goes on saving after a new login, with everything that was typed', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'cron',
      cron_expression: '0 3 * * *',
    });
    const { page, context, close } = await open(`/triggers/${made.id}`, { allow: /status of 401/ });
    await expression(page).fill('45 4 * * *');
    await page.getByText(/^At 04:45 every day/).waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('API key').fill(server.key);
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Saved as v2').waitFor();
    assert.equal((await read(made.id)).cron_expression, '45 4 * * *');
    await close();
  });

  it('keeps numbers of many digits, runs now, and deletes after asking', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'schedule',
      daily: { time: '03:00' },
    });
    const { page, close } = await open(`/triggers/${made.id}`);
    await page.getByRole('button', { name: 'Input' }).click();
    await page.locator('.cm-content').click();
    await page.keyboard.insertText('{"n": 123456789012345678901234567890');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    assert.equal((await read(made.id)).version, 1);
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as v2').waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL('**/executions/exec_*');
    const id = page.url().split('/').pop();
    const execution = await fetch(`${server.url}/api/executions/${id}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    assert.match(await execution.text(), /"n": ?123456789012345678901234567890/);

    await page.goto(`/triggers/${made.id}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/triggers');
    await assert.rejects(read(made.id), /404/);
    await close();
  });

  it('filters by the URL, and speaks 繁體中文', async () => {
    await make('failing', { trigger_type: 'webhook', authentication: 'github', name: 'Pushes' });
    const { page, close } = await open('/triggers');
    await page.evaluate(() =>
      localStorage.setItem('refire.settings', JSON.stringify({ language: 'zh-TW' })),
    );
    await page.goto('/triggers?type=webhook&workflow=failing');
    await page.getByRole('heading', { name: '觸發器' }).waitFor();
    await page.getByRole('link', { name: 'Pushes' }).waitFor();
    assert.equal(await page.getByRole('grid').getByRole('switch').count(), 1);
    await page.goto('/workflows/server_health_check/triggers/new?type=cron');
    await page.getByRole('button', { name: '每週一上午 9 點' }).click();
    await page.getByText(/^每週一 09:00/).waitFor();
    await close();
  });

  it('repairs one whose settings can no longer be read', async () => {
    const made = await make('server_health_check', {
      trigger_type: 'cron',
      cron_expression: '0 9 * * *',
      timezone: 'Asia/Taipei',
      name: 'Repair me',
    });
    const { page, close } = await open('/nodes', { allow: REFUSED });
    // What an update of the time zones would do: the stored settings name one that is gone.
    let repaired = false;
    await page.route(`**/api/triggers/${made.id}`, async (route) => {
      if (route.request().method() === 'PUT') {
        const answer = await route.fetch();
        repaired = answer.ok();
        return route.fulfill({ response: answer });
      }
      const answer = await route.fetch();
      if (repaired || route.request().method() !== 'GET')
        return route.fulfill({ response: answer });
      const json = await answer.json();
      const problem = 'there is no time zone `Asia/Atlantis`';
      return route.fulfill({
        response: answer,
        json: { ...json, timezone: 'Asia/Atlantis', problem },
      });
    });
    await page.goto(`/triggers/${made.id}`);
    await page.getByText('there is no time zone `Asia/Atlantis`').waitFor();
    await assertAccessible(page, 'a trigger that cannot be read');
    const editor = page.getByRole('textbox', { name: 'Settings' });
    const text = await editor.innerText();
    await paste(page, editor, text.replace('Asia/Atlantis', 'Asia/Nowhere'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    await paste(page, editor, text.replace('Asia/Atlantis', 'Asia/Tokyo'));
    await page.getByRole('button', { name: 'Save' }).click();
    await plan(page).waitFor();
    assert.equal((await read(made.id)).timezone, 'Asia/Tokyo');
    await close();
  });
});
