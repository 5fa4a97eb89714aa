// One execution: time line, countdown, actions, attempts, values, log, state, replay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, paste } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world();
const MARKUP = '<img src=x onerror=alert(1)>';

test('a retry waits with a countdown, and fires now when asked', async () => {
  const id = await here.server.execute('flaky', { name: 'now' });
  await here.server.status(id, 'retrying');
  await here.visit(`/executions/${id}`, async (page) => {
    const countdown = page.getByText(/Next retry in \d+:\d\d/);
    await countdown.waitFor();
    const before = await countdown.textContent();
    await until('it counts', async () => (await countdown.textContent()) !== before);
    await page.getByRole('button', { name: 'call, attempt 1 · failed' }).first().waitFor();
    await page
      .getByRole('button', { name: /call, attempt 2 · (planned|waiting)/ })
      .first()
      .waitFor();
    here.target.repair('now');
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Copy as curl' }).waitFor();
    await dialog.getByRole('button', { name: 'Retry now' }).click();
    await page.getByText('completed').first().waitFor();
    await here.server.status(id, 'completed');
    await page
      .getByRole('button', { name: /call, attempt 2 · completed/ })
      .first()
      .waitFor();
  });
});

test('pause, resume and cancel', async () => {
  const id = await here.server.execute('flaky', { name: 'pause' });
  await here.server.status(id, 'retrying');
  await here.visit(`/executions/${id}`, async (page) => {
    const act = async (button, said) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
      await page.getByText(said).waitFor();
    };
    await act('Pause', 'Execution paused');
    await here.server.status(id, 'paused');
    await act('Resume', 'Execution resumed');
    await here.server.status(id, 'retrying');
    await page.getByRole('button', { name: 'Cancel execution' }).click();
    await page.getByRole('menuitem', { name: 'Cancel now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel execution' }).click();
    await here.server.status(id, 'cancelled');
    await page.getByText('cancelled').first().waitFor();
  });
});

test('cancel and compensate undoes what was done', async () => {
  const id = await here.server.execute('trip', { name: 'undo' });
  await here.server.status(id, 'retrying');
  await here.visit(`/executions/${id}`, async (page) => {
    await page.getByRole('button', { name: 'Cancel execution' }).click();
    await page.getByRole('menuitem', { name: 'Cancel and compensate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel and compensate' }).click();
    await here.server.status(id, 'cancelled');
    await page
      .getByRole('button', { name: /cancel_hotel, attempt 1 · completed/ })
      .first()
      .waitFor();
    assert.ok(here.target.seen.some((request) => request.path === '/ok/undo'));
  });
});

test('a failed attempt tells its error and answer; two attempts are compared', async () => {
  const id = await here.server.execute('flaky', { name: 'twice' });
  await here.server.status(id, 'retrying');
  await here.server.call('POST', `/api/executions/${id}/retry-now`);
  await until('the second attempt failed', async () => {
    const { items } = await here.server.call('GET', `/api/executions/${id}/attempts`);
    return items.filter((each) => each.status === 'failed').length === 2;
  });
  await here.visit(`/executions/${id}?step=call&attempt=2`, async (page) => {
    await page.getByText('"down"').waitFor();
    await page.getByRole('button', { name: 'Compare with attempt 1' }).click();
    await page.locator('.cm-merge-a').waitFor();
    // Attempts that follow at once lie over each other: arrows walk from one to the next.
    await page.locator('[data-bar="call#2"]').focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(/attempt=1/);
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/attempt=2/);
  });
  await here.server.call('POST', `/api/executions/${id}/cancel`);
});

test('bars that lie over each other are reached by clicking again', async () => {
  const id = await here.server.execute('flaky', { name: 'thrice' });
  for (let retry = 1; retry < 3; retry += 1) {
    await until('an attempt failed', async () => {
      const { items } = await here.server.call('GET', `/api/executions/${id}/attempts`);
      return items.filter((each) => each.status === 'failed').length === retry;
    });
    await here.server.status(id, 'retrying');
    await here.server.call('POST', `/api/executions/${id}/retry-now`);
  }
  await until('the third attempt failed', async () => {
    const { items } = await here.server.call('GET', `/api/executions/${id}/attempts`);
    return items.filter((each) => each.status === 'failed').length === 3;
  });
  await here.server.call('POST', `/api/executions/${id}/pause`);
  await here.visit(`/executions/${id}`, async (page) => {
    // The planned retry is ten minutes away, so all three are one spot at the left.
    const { x, y } = await page.locator('[data-bar="call#1"]').boundingBox();
    const seen = new Set();
    for (let click = 0; click < 3; click += 1) {
      const before = page.url();
      await page.mouse.click(x + 2, y + 8);
      await page.waitForURL((url) => url.href !== before);
      seen.add(new URL(page.url()).searchParams.get('attempt'));
    }
    assert.deepEqual([...seen].sort(), ['1', '2', '3']);
  });
  await here.server.call('POST', `/api/executions/${id}/cancel`);
});

test('the context has the names that steps gave to parts of their output', async () => {
  await here.server.call(
    'PUT',
    '/api/workflows/named',
    `id: named
retry: false
steps:
  - id: first
    type: http
    outputMapping: { answered: "$.body.ok", sent: "$.body.echo", nothing: "$.body.missing" }
    config: { method: POST, url: "${here.target.url}/ok", body: "\${input.note}" }
  - id: second
    type: http
    needs: [first]
    outputMapping: { note: "$.status" }
    config: { url: "${here.target.url}/ok" }
`,
  );
  const id = await here.server.execute('named', { note: 'Zürich, 台北' });
  await here.server.status(id, 'completed');
  const { items } = await here.server.call('GET', `/api/executions/${id}/events`);
  const first = items.findIndex((each) => each.event_type === 'STEP_COMPLETED') + 1;
  const context = (page) =>
    page.getByRole('textbox', { name: 'Values that expressions can read' }).innerText();
  await here.visit(`/executions/${id}?tab=context&at=${first}`, async (page) => {
    await until('the names of the first step', async () => {
      const text = await context(page);
      return (
        /"note": "Zürich, 台北",\s+"answered": true,/.test(text) && /"nothing": null/.test(text)
      );
    });
    assert.match(await context(page), /"sent": "[^}]*Zürich, 台北/);
    await page.goto(`/executions/${id}?tab=context`);
    await until('the second step replaced one', async () =>
      /"context": \{\s+"note": 200,/.test(await context(page)),
    );
  });
});

test('foreign text stays text, and big numbers stay exact', async () => {
  const big = '12345678901234567890';
  const response = await fetch(`${here.server.url}/api/workflows/good/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${here.server.key}`, 'content-type': 'application/json' },
    body: `{"name":${JSON.stringify(MARKUP)},"big":${big}}`,
  });
  const { execution_id: id } = await response.json();
  await here.server.status(id, 'completed');
  await here.visit(`/executions/${id}?tab=values`, async (page) => {
    await page.getByText(big).waitFor();
    await page.getByText(MARKUP).first().waitFor();
    assert.equal(await page.locator('img[src="x"]').count(), 0);
  });
});

test('the log is filtered, opened and saved; the state after any event is shown', async () => {
  const id = await here.server.execute('bad', { name: 'log' });
  await here.server.status(id, 'dlq');
  await here.visit(`/executions/${id}?tab=events`, async (page) => {
    await page.getByRole('grid').getByText('EXECUTION_STARTED').waitFor();
    await page.getByPlaceholder('Text in the event').fill('dead_letter');
    await until('few are left', async () => (await page.getByRole('row').count()) <= 3);
    await page.getByPlaceholder('Text in the event').fill('');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).last().click();
    assert.match((await saved).suggestedFilename(), /events\.ndjson$/);
    await page.getByRole('tab', { name: 'Context' }).click();
    await page.getByText(/After event \d+ of \d+/).waitFor();
    await page.getByRole('button', { name: 'One event earlier' }).click();
    await page.waitForURL(/at=\d+/);
  });
});

test('a replay is identical; another definition shows the first difference', async () => {
  const id = await here.server.execute('bad', { name: 'replay' });
  await here.server.status(id, 'dlq');
  await here.visit(`/executions/${id}?tab=replay`, async (page) => {
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText(/Identical: \d+ events/).waitFor();
    const editor = page.getByRole('textbox', { name: 'Definition, version 1' });
    const { source } = await here.server.call('GET', '/api/workflows/bad/versions/1');
    await paste(page, editor, source.replaceAll('id: call', 'id: other'));
    await page.getByRole('button', { name: 'Replay with this draft' }).click();
    await page.getByText(/The first difference is event \d+/).waitFor();
  });
});

test('every tab can be used by everybody', async () => {
  const id = await here.server.execute('flaky', { name: 'axe' });
  await here.server.status(id, 'retrying');
  await here.visit(`/executions/${id}`, async (page) => {
    for (const tab of ['Attempts', 'Input and output', 'Events', 'Context', 'Replay lab']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator('.cm-content, [role="grid"]').first().waitFor();
      await assertAccessible(page, tab);
    }
  });
  await here.server.call('POST', `/api/executions/${id}/cancel`);
});

test('what is not there says so', () =>
  here.visit(
    '/executions/exec_01m7gg8ap4fzsbyyy3h99vqfbj',
    { allow: /status of 40[14] / },
    async (page) => {
      await page.getByRole('alert').waitFor();
      await page.getByRole('link', { name: /RF\d{4}/ }).waitFor();
    },
  ));
