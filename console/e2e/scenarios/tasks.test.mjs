// External tasks, workers and nodes: who has what, until when, and what a person may do in a worker's place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../browser.mjs';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const TYPE = 'jira-create-ticket';

const here = world(async ({ server }) => {
  await server.call(
    'PUT',
    '/api/workflows/tickets',
    `id: tickets
name: Tickets
steps:
  - id: create
    type: external_task
    config:
      taskType: ${TYPE}
      input: { summary: "\${input.summary}" }
      retries: 2
      heartbeat: { interval: 60s, maxMissed: 2 }
`,
  );
});

/** A task that a worker has, with its lock. */
async function locked(summary, worker) {
  const { server } = here;
  const execution = await server.execute('tickets', { summary });
  const task = await until('the task is fetched', async () => {
    const [got] =
      (await server.call(
        'GET',
        `/api/external-tasks/poll?taskType=${TYPE}&workerId=${worker}&workerType=n8n&waitSeconds=1`,
      )) ?? [];
    return got;
  });
  return { execution, ...task };
}

const taskOf = (id) => here.server.call('GET', `/api/external-tasks/${id}`);

test('a task with its worker, lock, heartbeat and progress, as it goes', async () => {
  const task = await locked('live', 'worker-live');
  await here.visit('/tasks', async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'worker-live' });
    await row.getByText('locked').waitFor();
    await row.getByText(/\d:\d\d left/).waitFor();
    await here.server.call(
      'POST',
      `/api/external-tasks/${task.id}/heartbeat?lockToken=${task.lockToken}`,
      { progress: 50, progressMessage: 'half of it' },
    );
    await row.getByText('50 %').waitFor();
    await row.getByText('half of it').waitFor();
    await assertAccessible(page, 'external tasks');
    await here.server.call(
      'POST',
      `/api/external-tasks/${task.id}/complete?lockToken=${task.lockToken}`,
      { ticket: 'OPS-1' },
    );
    await row.getByText('completed').waitFor();
    await row.getByRole('link').first().click();
    await page.getByText('"OPS-1"').waitFor();
    await assertAccessible(page, 'an external task');
  });
});

test('a task is taken from its worker, and another gets it', async () => {
  const task = await locked('unlock', 'worker-hangs');
  await here.visit(`/tasks/${task.id}`, async (page) => {
    await page.getByRole('button', { name: 'Unlock…' }).click();
    await page.getByRole('dialog').getByText('worker-hangs').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click();
    await page.getByText('pending', { exact: true }).waitFor();
  });
  assert.equal((await taskOf(task.id)).retryCount, 0);
  await here.server.call('POST', `/api/executions/${task.execution}/cancel`);
});

test('a person completes a task in place of its worker, with an exact output', async () => {
  const task = await locked('by hand', 'worker-slow');
  await here.visit(`/tasks/${task.id}`, async (page) => {
    await page.getByRole('button', { name: 'Complete by hand…' }).click();
    const dialog = page.getByRole('dialog');
    const output = dialog.getByRole('textbox', { name: 'Output' });
    await output.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"ticket": ');
    await dialog.getByText(/This is not JSON/).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Complete' }).isDisabled());
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"ticket": 12345678901234567890123}');
    await assertAccessible(page, 'completing a task by hand');
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await page.getByText('12345678901234567890123').waitFor();
  });
  await here.server.status(task.execution, 'completed');
});

test('a person reports a failure that no other attempt helps', async () => {
  const task = await locked('fails', 'worker-fails');
  await here.visit(`/tasks/${task.id}`, async (page) => {
    await page.getByRole('button', { name: 'Fail by hand…' }).click();
    const dialog = page.getByRole('dialog');
    assert.ok(await dialog.getByRole('button', { name: 'Report the failure' }).isDisabled());
    await dialog.getByLabel('What went wrong').fill('no such project');
    await dialog.getByLabel('Another attempt may help').uncheck();
    await dialog.getByRole('button', { name: 'Report the failure' }).click();
    await page.getByText('failed', { exact: true }).waitFor();
    await page.getByText('no such project').first().waitFor();
  });
  await here.server.status(task.execution, 'dlq');
});

test('workers with what they have; a released worker gives its tasks back', async () => {
  const task = await locked('release', 'worker-gone');
  await here.visit('/workers?q=worker-gone', async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'worker-gone' });
    await row.getByText('active').waitFor();
    await row.getByText(TYPE).waitFor();
    await assertAccessible(page, 'workers');
    await row.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('dialog').getByText('the 1 task that it has').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
    await page.getByText('Nothing matches').waitFor();
  });
  assert.equal((await taskOf(task.id)).status, 'PENDING');
  await here.server.call('POST', `/api/executions/${task.execution}/cancel`);
});

test('nodes with their leases', () =>
  here.visit('/nodes', async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'this one' });
    await row.getByText('alive').waitFor();
    await row.getByText(/^0:\d\d$/).waitFor();
    await assertAccessible(page, 'nodes');
  }));
