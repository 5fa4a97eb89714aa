// Scheduled tasks: made by the form, run, called back, queried, paused, changed by two people at once.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const here = world();

/** A service that accepts tasks and keeps what it was sent, with the way to ask it. */
const service = { calls: [] };
before(async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (request.url === '/status') {
        response.end(JSON.stringify({ status: 'processing', details: { batch: 7 } }));
        return;
      }
      service.calls.push(JSON.parse(body));
      const config = { url: `${service.url}/status`, method: 'GET' };
      response.end(JSON.stringify({ accepted: true, queryConfig: { type: 'http', config } }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  service.url = `http://127.0.0.1:${server.address().port}`;
  service.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
});
after(() => service.stop());

const request = (name, more = {}) => ({
  taskName: name,
  scheduleType: 'daily',
  isRecurring: true,
  scheduleConfig: { time: '02:00' },
  taskConfig: {
    taskType: 'sync',
    targetConfig: { triggerType: 'http', url: `${service.url}/run` },
    taskPayload: { order: 1 },
  },
  ...more,
});
const make = async (name, more) =>
  (await here.server.call('POST', '/schedule-task', request(name, more))).taskId;
const taskOf = (id) => here.server.call('GET', `/api/scheduled-tasks/${id}`);

test('made by the form: what is wrong is named at its field, what is typed survives a reload', () =>
  here.visit('/scheduled', { allow: /401|400/ }, async (page) => {
    await page.getByText('No scheduled tasks').waitFor();
    await assertAccessible(page, 'an empty list of scheduled tasks');
    await page.getByRole('link', { name: 'New task' }).first().click();
    await page.getByLabel('Name').fill('Weekly sync');
    await page.getByText('weekly', { exact: true }).click();
    await page.getByLabel('Time of day').fill('25:00');
    await page.getByLabel('Address').fill(`${service.url}/run`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('`25:00` is not a time of the day').nth(1).waitFor();
    await assertAccessible(page, 'the form of a scheduled task');
    await page.reload();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Weekly sync');
    await page.getByLabel('Time of day').fill('09:00, 17:30');
    await page.getByText('JSON', { exact: true }).click();
    await page.getByText('"17:30"').waitFor();
    await page.getByText('Form', { exact: true }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/scheduled\/task-/);
    await page.getByText('Monday at 09:00, 17:30').waitFor();
    const made = await taskOf(page.url().split('/').at(-1));
    assert.deepEqual(made.scheduleConfig, { dayOfWeek: 1, time: ['09:00', '17:30'] });
  }));

test('run now: the record, the callback’s progress, and a question to the target', async () => {
  const id = await make('Progress');
  await here.visit(`/scheduled/${id}`, async (page) => {
    await page.getByText('No cycle has begun yet.').waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
    const call = await until('the service is called', () => service.calls.at(-1));
    const row = page.getByRole('row').filter({ hasText: call.executionId.slice(-8, -2) });
    await row.getByText('success').waitFor();
    const say = (body) =>
      fetch(`${here.server.url}/task-callback/${call.callbackToken}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await say({ status: 'processing', progress: 65, progressMessage: '650 of 1000' });
    await row.getByText('65 %').waitFor();
    await row.getByText('processing').waitFor();
    await row.getByRole('button', { name: 'Open the row' }).click();
    await page.getByRole('button', { name: 'Query now' }).click();
    await page.getByText(/The target answered 200/).waitFor();
    await page.getByText('"batch"').waitFor();
    await assertAccessible(page, 'a scheduled task');
    await say({ status: 'success', progress: 100, result: { count: 998 } });
    await page.getByText('998').waitFor();
    await page.getByRole('option', { name: /Cycle 1: success/ }).waitFor();
  });
});

test('pause and resume, cancel and delete', async () => {
  const id = await make('Ends');
  await here.visit(`/scheduled/${id}`, { allow: /401|404/ }, async (page) => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    assert.equal((await taskOf(id)).isActive, false);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Cancel task…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/scheduled$/);
  });
});

test('two people change the same task: theirs and yours are shown, nothing is lost', async () => {
  const id = await make('Shared');
  await here.visit(`/scheduled/${id}?tab=edit`, { allow: /401|412/ }, async (page) => {
    await page.getByLabel('Name').fill('Shared, mine');
    await here.server.call('PATCH', `/api/scheduled-tasks/${id}`, {
      scheduleConfig: { time: '03:30' },
    });
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this task' });
    await dialog.getByText('"03:30"').waitFor();
    await dialog.getByText('"Shared, mine"').waitFor();
    await assertAccessible(page, 'a conflict');
    await dialog.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByRole('heading', { name: 'Shared, mine' }).waitFor();
  });
  const now = await taskOf(id);
  assert.equal(now.taskName, 'Shared, mine');
  assert.equal(now.scheduleConfig.time, '02:00');
});
