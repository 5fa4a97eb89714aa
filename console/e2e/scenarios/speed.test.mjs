// How quick the console is: first paint, input, a long log and a large body, against a stand-in that plays
// 10,000 executions a second, and against the real server while it admits 1,000 a second.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { logIn, openPage, startBrowser } from '../browser.mjs';
import {
  FIRST_PAINT_MS,
  firstPaint,
  INPUT_MS,
  inputWaits,
  judge,
  longestBusy,
  OPEN_MS,
  ROUTE_MS,
  watchPace,
} from '../pace.mjs';
import { startServer, until } from '../server.mjs';
import { LONG_ID, startStandIn } from '../standin.mjs';
import { long } from '../world.mjs';

const isLong = !long.skip;
/** How long somebody works in the list: at least, and in rounds of a few inputs each. */
const WORK_MS = isLong ? 60_000 : 8_000;
const LOADS = 5;
const BIG_BYTES = 8 * 1024 * 1024;
const ADMITTED_PER_SECOND = 1_000;
const BATCH = 250;

const here = {};
before(async () => {
  here.browser = await startBrowser();
  here.standIn = await startStandIn();
});
after(async () => {
  await here.browser?.close();
  await here.standIn?.stop();
});

/** A page whose pace is watched. */
async function watched(server, path, body, options = {}) {
  const opened = await openPage(here.browser, server, options);
  try {
    await watchPace(opened.page);
    await opened.page.goto(path);
    await body(opened.page);
  } finally {
    await opened.close();
  }
}

/** Somebody at work in the list: walks, opens, selects, filters, takes in what is new. */
async function work(page, ms) {
  const grid = page.getByRole('grid');
  const filter = page.getByRole('textbox', { name: 'Filter or search' });
  const waits = [];
  const end = Date.now() + ms;
  do {
    await grid.focus();
    await page.keyboard.press('Home');
    for (const key of ['j', 'j', 'j', 'x', 'k', 'x', 'Space']) await page.keyboard.press(key);
    await page.getByRole('gridcell').locator('.cm-content').first().waitFor();
    await page.keyboard.press('Escape');
    await filter.click();
    await page.keyboard.type('crm');
    for (let letter = 0; letter < 3; letter += 1) await page.keyboard.press('Backspace');
    await page.keyboard.press('Escape');
    await page.mouse.wheel(0, 400);
    waits.push(...(await inputWaits(page, 17)));
    // What came meanwhile waits behind a pill.
    const pill = page.getByRole('button', { name: /\d+\+? new/ });
    if (await pill.isVisible()) await pill.click({ force: true, timeout: 2_000 }).catch(() => {});
  } while (Date.now() < end);
  return waits;
}

test('the first paint takes a second at most, at 10,000 executions a second', async () => {
  const paints = { '/executions': [], '/': [] };
  for (const path of Object.keys(paints)) {
    for (let load = 0; load < LOADS; load += 1)
      await watched(here.standIn, path, async (page) => {
        await page.getByRole('heading').first().waitFor();
        paints[path].push(await firstPaint(page));
      });
    judge(`first paint of ${path}`, paints[path], FIRST_PAINT_MS);
  }
});

test('every input is answered within 100 ms, at 10,000 executions a second', async () => {
  await watched(here.standIn, '/executions', async (page) => {
    await page.getByRole('row').nth(10).waitFor();
    await inputWaits(page, 0);
    const looks = here.standIn.looks;
    const waits = await work(page, WORK_MS);
    assert.ok(here.standIn.looks > looks, 'the list was read while somebody worked in it');
    judge('input in a list of 10,000 executions a second', waits, INPUT_MS);
  });
});

test('a log of 10,000 events opens within a second, and is walked at once', async () => {
  const opens = [];
  for (let load = 0; load < 3; load += 1)
    await watched(here.standIn, `/executions/${LONG_ID}`, async (page) => {
      await page.getByRole('button', { name: 'step_1, attempt 1 · failed' }).first().waitFor();
      opens.push(await whileOpening(page, 'Events', 'EXECUTION_STARTED'));
      assert.ok((await page.getByRole('row').count()) < 100, 'only visible rows are drawn');
      await page.getByText(/10,\d\d\d/).waitFor();
      await inputWaits(page, 0);
      await page.getByRole('grid').focus();
      await page.keyboard.press('End');
      await page.getByRole('grid').getByText('EXECUTION_COMPLETED').waitFor();
      for (const key of ['k', 'k', 'PageUp', 'Home']) await page.keyboard.press(key);
      judge('input in a log of 10,000 events', await inputWaits(page, 5), INPUT_MS);
    });
  judge('a log of 10,000 events opens', opens, OPEN_MS);
});

/** How long a tab takes from the click until its words are there, by the page's own clock. */
async function whileOpening(page, tab, words) {
  await page.evaluate((wanted) => {
    globalThis.__seen = new Promise((resolve) => {
      const look = () =>
        document.querySelector('[role="grid"]')?.textContent.includes(wanted)
          ? resolve(performance.now())
          : requestAnimationFrame(look);
      document.addEventListener(
        'click',
        () => {
          globalThis.__clicked = performance.now();
          look();
        },
        { once: true, capture: true },
      );
    });
  }, words);
  await page.getByRole('tab', { name: tab }).click();
  return page.evaluate(async () => (await globalThis.__seen) - globalThis.__clicked);
}

test('a page of an execution with 10,000 events is there within a second', async () => {
  const opens = [];
  const values = [];
  for (let load = 0; load < 3; load += 1)
    await watched(here.standIn, `/executions/${LONG_ID}`, async (page) => {
      await page.getByRole('button', { name: 'step_1, attempt 1 · failed' }).first().waitFor();
      opens.push(await page.evaluate(() => performance.now()));
      // The output of each of the 240 steps is drawn when it comes into sight.
      await inputWaits(page, 0);
      await page.getByRole('tab', { name: 'Input and output' }).click();
      await page.getByRole('textbox', { name: 'Input' }).waitFor();
      assert.ok((await page.locator('.cm-editor').count()) < 40);
      values.push(...(await inputWaits(page, 1)));
      await page.getByRole('tab', { name: 'Attempts' }).click();
      // The last row of the time line is reached by its key.
      await page.locator('[data-bar="step_1#1"]').focus();
      await page.keyboard.press('End');
      await page.waitForURL(/step=step_240&attempt=11/);
      await until('it has the focus', () =>
        page.evaluate(() => document.activeElement?.getAttribute('data-bar') === 'step_240#11'),
      );
    });
  judge('an execution of 2,640 attempts is shown', opens, OPEN_MS);
  judge('the values of 240 steps', values, ROUTE_MS);
});

test('a body of 8 MiB does not freeze the page', async () => {
  const row = { text: 'x'.repeat(900), number: 1, '<img src=x onerror=alert(1)>': null };
  const rows = Math.ceil(BIG_BYTES / JSON.stringify(row).length);
  const standIn = await startStandIn({ big: Array.from({ length: rows }, () => row) });
  try {
    await watched(standIn, `/executions/${LONG_ID}?tab=values`, async (page) => {
      await page.getByText(/^The first 65\.5 kB of/).waitFor();
      await page.getByRole('textbox', { name: 'Input' }).waitFor();
      console.log(`# 8 MiB: busy at once for ${Math.round(await longestBusy(page))} ms at most`);
      await inputWaits(page, 0);
      for (const tab of ['Attempts', 'Input and output', 'Attempts', 'Input and output'])
        await page.getByRole('tab', { name: tab, exact: true }).click();
      judge('input beside a body of 8 MiB', await inputWaits(page, 4), INPUT_MS);
    });
  } finally {
    await standIn.stop();
  }
});

test('the real server admits 1,000 executions a second and the list stays quick', async () => {
  const server = await startServer();
  const loader = new AbortController();
  try {
    await server.call(
      'PUT',
      '/api/workflows/later',
      'id: later\nname: later\nsteps:\n  - id: call\n    type: http\n    config: { url: "http://127.0.0.1:9/" }\n',
    );
    const opened = await openPage(here.browser, server, { allow: /status of 401/ });
    try {
      await watchPace(opened.page);
      await logIn(opened.page, server);
      const load = admit(server, loader.signal);
      await opened.page.getByRole('row').nth(10).waitFor();
      const paints = [];
      for (let turn = 0; turn < LOADS; turn += 1) {
        await opened.page.reload();
        await opened.page.getByRole('row').nth(10).waitFor();
        paints.push(await firstPaint(opened.page));
      }
      await inputWaits(opened.page, 0);
      const waits = await work(opened.page, WORK_MS);
      loader.abort();
      const { admitted, seconds } = await load;
      console.log(`# the server admitted ${Math.round(admitted / seconds)} executions a second`);
      judge('first paint under 1,000 admissions a second', paints, FIRST_PAINT_MS);
      judge('input under 1,000 admissions a second', waits, INPUT_MS);
      if (isLong) assert.ok(admitted / seconds >= ADMITTED_PER_SECOND * 0.95);
    } finally {
      await opened.close();
    }
  } finally {
    loader.abort();
    await server.stop();
  }
});

/** Starts executions that wait for tomorrow, a thousand a second, until it is told to stop. */
async function admit(server, signal) {
  const item = { input: { name: 'later' }, delay: '1d' };
  const batch = Array.from({ length: BATCH }, () => item);
  const began = Date.now();
  let admitted = 0;
  while (!signal.aborted) {
    await server.call('POST', '/api/workflows/later/execute-batch', batch);
    admitted += BATCH;
    const due = began + (admitted * 1_000) / ADMITTED_PER_SECOND;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
  }
  return { admitted, seconds: (Date.now() - began) / 1_000 };
}
