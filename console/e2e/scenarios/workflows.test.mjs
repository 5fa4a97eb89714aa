// Workflows: made from a template, edited with the server's verdict, saved over what was seen, compared,
// brought back, run and deleted; and the retry form.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertAccessible, logIn, openPage, startBrowser } from '../browser.mjs';
import { startServer, until } from '../server.mjs';
import { startTarget } from '../target.mjs';

const MOD = 'Control';
const LONG_NUMBER = '123456789012345678901234567890';

describe('workflows', () => {
  let server;
  let target;
  let browser;
  const open = async (path, options) => {
    const tab = await openPage(browser, server, options);
    await logIn(tab.page, server, path);
    return tab;
  };
  const save = (id, text) => server.call('PUT', `/api/workflows/${id}`, text);
  const source = async (id) => (await server.call('GET', `/api/workflows/${id}`)).source;
  /** A definition with one call. */
  const single = (id, path, more = '') =>
    `# About ${id}\nid: ${id}\n${more}steps:\n  - id: call\n    type: http\n    config: { url: "${target.url}${path}" }\n`;

  before(async () => {
    [server, target, browser] = await Promise.all([startServer(), startTarget(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await target?.stop();
    await server?.stop();
  });

  const editor = (page) => page.locator('.cm-content[contenteditable="true"]');
  /** Pastes a text over all that is in the editor. */
  const write = async (page, text) => {
    await editor(page).click();
    await page.keyboard.press(`${MOD}+a`);
    await editor(page).evaluate((element, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', pasted);
      const options = { clipboardData, bubbles: true, cancelable: true };
      element.dispatchEvent(new ClipboardEvent('paste', options));
    }, text);
  };
  const tab = (page, name) => page.getByRole('tab', { name }).click();

  it('makes one from a template and draws its graph', async () => {
    const { page, close } = await open('/workflows');
    await page.getByRole('link', { name: 'New workflow' }).first().click();
    await page.getByRole('button', { name: /With compensation/ }).click();
    await page.getByLabel('Id', { exact: true }).fill('book_trip');
    await page.getByText('No problem found').waitFor();
    await assertAccessible(page, 'new workflow');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'book_trip' }).waitFor();
    await page.waitForURL('**/workflows/book_trip');
    await page.getByRole('button', { name: /^cancel_hotel .*undoes hotel/ }).waitFor();
    assert.match(await source('book_trip'), /^# If the second step/);

    // The graph can be walked by keys, and read as a table.
    await page.getByRole('button', { name: /^hotel / }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL('**step=flight');
    await assertAccessible(page, 'graph');
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('row', { name: /cancel_hotel/ }).waitFor();
    await assertAccessible(page, 'steps as a table');

    await page.goto('/workflows');
    await page.getByRole('link', { name: 'book_trip' }).waitFor();
    await assertAccessible(page, 'list of workflows');
    await close();
  });

  it('does not make a second one with the same id', async () => {
    await save('taken', single('taken', '/ok'));
    const { page, close } = await open('/workflows?new=http', { allow: /status of 412/ });
    await page.getByLabel('Id', { exact: true }).fill('taken');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('There is already a workflow').waitFor();
    assert.match(await source('taken'), /# About taken/);
    await close();
  });

  it('shows an error at its line and completes keys', async () => {
    await save('typed', single('typed', '/ok'));
    const { page, close } = await open('/workflows/typed?tab=definition', {
      allow: /status of 400/,
    });
    await page.getByText('No problem found').waitFor();
    await write(page, single('typed', '/ok').replace('url:', 'ulr:'));
    await page.getByText('2 problems').waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page
      .getByRole('button', { name: /^Go to 6:/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Save …' }).isDisabled();
    await page.keyboard.press('F8');
    await page.locator('.cm-tooltip-lint, .cm-diagnostic').first().waitFor();
    await assertAccessible(page, 'definition with problems');

    await write(page, `${single('typed', '/ok')}\n`);
    await page.keyboard.press(`${MOD}+End`);
    await page.keyboard.type('deadL');
    await page.locator('.cm-tooltip-autocomplete').getByText('deadLetter').click();
    await page.keyboard.type('exhausted');
    await page.getByText('No problem found').waitFor();

    // Another id than the address is not this workflow.
    await write(page, single('typed', '/ok').replace('id: typed', 'id: other'));
    await page
      .getByText(/another id cannot be saved here/)
      .first()
      .waitFor();
    await close();
  });

  it('keeps a draft over reload, and asks before it is left', async () => {
    await save('draft', single('draft', '/ok'));
    const { page, close } = await open('/workflows/draft?tab=definition');
    await page.getByText('No problem found').waitFor();
    await write(page, single('draft', '/ok', 'name: A new name\n'));
    await page.getByText(/Unsaved changes to v1/).waitFor();
    await page.reload();
    await page.getByText('name: A new name').waitFor();
    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await page.getByText('name: A new name').waitFor();
    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await page.waitForURL('**/executions');
    await page.goto('/workflows/draft?tab=definition');
    await page.getByText('v1, as it was saved').waitFor();
    assert.equal((await server.call('GET', '/api/workflows/draft')).version, 1);
    await close();
  });

  it('loses nothing of what is typed when the session ends', async () => {
    await save('ended', single('ended', '/ok'));
    const { page, context, close } = await open('/workflows/ended?tab=definition', {
      allow: /status of 401/,
    });
    await page.getByText('No problem found').waitFor();
    await context.clearCookies();
    await write(page, single('ended', '/ok', 'name: Typed meanwhile\n'));
    await page.getByText('Your session ended.').waitFor();
    await page.getByLabel('API key').fill(server.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Your session ended.').waitFor({ state: 'hidden' });
    await page.getByText('name: Typed meanwhile').waitFor();
    await page.getByRole('button', { name: 'Save …' }).click();
    await page.getByRole('button', { name: 'Save as v2' }).click();
    await until('it is saved', async () => /Typed meanwhile/.test(await source('ended')));
    await close();
  });

  it('shows what changes before it saves, and a conflict with theirs and yours', async () => {
    await save('shared', single('shared', '/ok'));
    const { page, close } = await open('/workflows/shared?tab=definition', {
      allow: /status of 412/,
    });
    await page.getByText('No problem found').waitFor();
    await write(page, single('shared', '/ok', 'name: Mine\n'));
    await page.getByRole('button', { name: 'Save …' }).click();
    let dialog = page.getByRole('dialog', { name: 'Save shared' });
    await dialog.getByText('Becomes v2').waitFor();
    await dialog.getByText('1 change', { exact: true }).waitFor();
    await dialog.locator('.cm-changedLine, .cm-insertedLine').first().waitFor();
    await assertAccessible(page, 'save dialog');

    // Somebody else is faster, between the look and the click.
    await save('shared', single('shared', '/ok', 'name: Theirs\n'));
    await dialog.getByRole('button', { name: 'Save as v2' }).click();
    await dialog.getByText(/saved v2\. Your text is kept/).waitFor();
    await dialog.getByText('Theirs (v2)').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing on v2' }).click();
    await page.getByText('name: Mine').waitFor();
    await page.keyboard.press(`${MOD}+s`);
    dialog = page.getByRole('dialog', { name: 'Save shared' });
    await dialog.getByText('Becomes v3').waitFor();
    await dialog.getByRole('button', { name: 'Save as v3' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.match(await source('shared'), /name: Mine/);
    await close();
  });

  it('compares any two versions and brings one back', async () => {
    for (const name of ['One', 'Two', 'Three'])
      await save('kept', single('kept', '/ok', `name: ${name}\n`));
    const { page, close } = await open('/workflows/kept?tab=versions');
    await page.getByRole('heading', { name: 'From v2 to v3' }).waitFor();
    await page.getByRole('radio', { name: 'Compare from version 1' }).click();
    await page.waitForURL('**v=1&with=3');
    await page.getByRole('heading', { name: 'From v1 to v3' }).waitFor();
    await page.getByLabel('Changes').getByText('One').waitFor();
    await assertAccessible(page, 'versions');
    await page.getByRole('row', { name: /v1/ }).getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Save as v4' }).click();
    await page.getByText('4 versions').waitFor();
    assert.match(await source('kept'), /name: One/);
    await page.goto('/workflows/kept?tab=definition&v=2');
    await page.getByText('This is v2.').waitFor();
    await page.getByText('name: Two').waitFor();
    await close();
  });

  it('runs one, waits, and keeps every digit', async () => {
    await save(
      'echo',
      `id: echo\nsteps:\n  - id: call\n    type: http\n    config: { method: POST, url: "${target.url}/ok", body: { n: "\${input.number}" } }\n`,
    );
    const { page, close } = await open('/workflows/echo?tab=run');
    await page.getByText('"number"').waitFor();
    await write(page, '{"number": ');
    await page.getByText('Not JSON: line 1').waitFor();
    await write(page, `{"number": ${LONG_NUMBER}}`);
    await assertAccessible(page, 'run');
    await page.keyboard.press(`${MOD}+Enter`);
    await page.getByText('completed', { exact: true }).first().waitFor();
    const call = target.seen.find((each) => each.body.includes(LONG_NUMBER));
    assert.equal(call?.body, `{"n":${LONG_NUMBER}}`);

    // The last input comes back digit by digit.
    await page.getByRole('button', { name: 'Empty' }).click();
    await page.getByRole('button', { name: 'Last input' }).click();
    await page.locator('.cm-content').first().getByText(LONG_NUMBER).waitFor();
    await page.getByRole('link', { name: 'On the graph' }).click();
    await page.getByRole('button', { name: /^call .*completed$/ }).waitFor();
    await assertAccessible(page, 'execution on the graph');
    await tab(page, 'Executions');
    await page.getByRole('link', { name: 'All executions' }).waitFor();
    await assertAccessible(page, 'executions of a workflow');
    await close();
  });

  it('shows what starts it, and leads to a new trigger', async () => {
    await save('started', single('started', '/ok'));
    const trigger = await server.call('POST', '/api/workflows/started/triggers', {
      trigger_type: 'cron',
      cron_expression: '0 9 * * MON',
      timezone: 'Asia/Taipei',
    });
    const { page, close } = await open('/workflows/started');
    await page.getByText('Next fire').waitFor();
    await tab(page, 'Triggers');
    const row = page.getByRole('row', { name: new RegExp(trigger.id) });
    await row.getByText('Monday').waitFor();
    await row.getByText('enabled').waitFor();
    await assertAccessible(page, 'triggers of a workflow');
    await page.getByRole('button', { name: 'New trigger' }).click();
    await page.getByRole('menuitem', { name: 'Webhook' }).click();
    await page.waitForURL('**/workflows/started/triggers/new?type=webhook');
    await close();
  });

  it('lists what is open when it cannot be deleted', async () => {
    await save('busy', single('busy', '/slow/busy'));
    const id = await server.execute('busy');
    const { page, close } = await open('/workflows/busy', { allow: /status of 409/ });
    const ask = async () => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      return page.getByRole('dialog', { name: 'Delete busy?' });
    };
    let dialog = await ask();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('1 open execution', { exact: true }).waitFor();
    await dialog.locator(`a[href$="${id}"]`).waitFor();
    await assertAccessible(page, 'delete refused');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    target.repair('busy');
    await server.status(id, 'completed');
    dialog = await ask();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/workflows');
    await assert.rejects(source('busy'), /404/);
    await close();
  });

  it('simulates the retry policy while it is edited: 2, 4, 8, 16, 32 = 62 s', async () => {
    await save('policy', single('policy', '/ok'));
    const { page, close } = await open('/workflows/policy?tab=retry', { allow: /status of 400/ });
    for (const [retry, delay] of ['2 s', '4 s', '8 s', '16 s', '32 s'].entries())
      await page.getByText(`Retry ${retry + 1}: after ${delay}`).waitFor();
    await page.getByText('between 1.6 s and 2.4 s').waitFor();
    const total = page.getByTestId('retry-total');
    assert.match(
      await total.textContent(),
      /62 s of waiting in total \(between 49\.6 s and 74\.4 s\)/,
    );
    await assertAccessible(page, 'retry form');
    await page.getByRole('radio', { name: 'Linear' }).click();
    await until('linear delays', async () => /^30 s/.test(await total.textContent()));
    await page.getByRole('radio', { name: 'Fixed' }).click();
    await until('fixed delays', async () => /^10 s/.test(await total.textContent()));
    await page.getByLabel('Retries at most').fill('11');
    await page.getByText('11 is not a whole number from 1 to 10').first().waitFor();
    await page.getByLabel('Retries at most').fill('3');
    await page.getByText('Retry 3: after 2 s').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await until('the default again', async () => /^62 s/.test(await total.textContent()));
    await close();
  });

  it('writes the policy into the definition and keeps its comments', async () => {
    const policy = 'retry:\n  # not more than that\n  maxRetries: 3 # three\n';
    await save('written', single('written', '/ok', policy));
    const { page, close } = await open('/workflows/written?tab=retry');
    await page.getByLabel('Retries at most').fill('7');
    await page.getByLabel('First delay').fill('500ms');
    await page.getByRole('checkbox', { name: '504 Gateway Timeout' }).uncheck();
    await page.getByRole('textbox', { name: 'Add a status' }).first().fill('408');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save written' });
    await dialog.getByText('retry.maxRetries').waitFor();
    await dialog.getByRole('button', { name: 'Save as v2' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const text = await source('written');
    assert.match(text, /# not more than that\n {2}maxRetries: 7 # three\n/);
    assert.match(text, /initialDelay: 500ms/);
    assert.match(text, /statuses: \[429, 500, 502, 503, 408\]/);
    await close();
  });

  it('shows recent retries with their number', async () => {
    await save(
      'flaky',
      single(
        'flaky',
        '/flaky/retry',
        'retry: { maxRetries: 9, initialDelay: 100ms, strategy: fixed }\n',
      ),
    );
    const id = await server.execute('flaky');
    await until(
      'a second retry',
      async () => (await server.call('GET', `/api/executions/${id}`)).retry_count >= 2,
    );
    target.repair('retry');
    const done = await server.status(id, 'completed');
    const { page, close } = await open('/workflows/flaky?tab=retry');
    const row = page.getByRole('row', { name: new RegExp(id.slice(-6)) });
    await row.getByText(`${done.retry_count}/9`).waitFor();
    await row.getByText('completed').waitFor();
    await row.getByText('503').first().waitFor();
    await page.getByText(`recovered by retry ${done.retry_count}`).waitFor();
    await close();
  });

  it('works in Chinese and on a narrow screen', async () => {
    await save('narrow', single('narrow', '/ok'));
    const { page, close } = await open('/workflows/narrow', { width: 390 });
    await page.evaluate(() => {
      const chosen = JSON.parse(localStorage.getItem('refire.settings') ?? '{}');
      const next = { ...chosen, language: 'zh-TW', theme: 'dark' };
      localStorage.setItem('refire.settings', JSON.stringify(next));
    });
    await page.reload();
    await page.getByRole('tab', { name: '定義' }).click();
    await page.getByText('沒有發現問題').waitFor();
    await page.getByRole('tab', { name: '重試' }).click();
    await page.getByText('第 5 次重試：32 s 後').waitFor();
    const wide = await page.evaluate(() => document.querySelector('main').scrollWidth > innerWidth);
    assert.equal(wide, false, 'nothing is wider than the screen');
    await assertAccessible(page, 'retry form, narrow');
    await close();
  });
});
