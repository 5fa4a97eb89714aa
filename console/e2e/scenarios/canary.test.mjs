// Markup in every field that somebody else can fill: names, keys, inputs, answers, headers, errors, workers,
// progress. Wherever it is shown it is text, and nothing of it runs.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { until } from '../server.mjs';
import { world } from '../world.mjs';

const CANARY = '<img src=x onerror="globalThis.__ran=1">';
/** A header holds no quotes and no signs beyond ASCII, but this. */
const HEADER = '<img src=x onerror=globalThis.__ran=1>';
const TYPE = 'canary-type';

const service = {};
async function startService() {
  const server = createServer((request, response) => {
    const accepts = request.url.startsWith('/accepts');
    response.writeHead(accepts ? 200 : 422, {
      'content-type': 'application/json',
      'x-canary': HEADER,
    });
    response.end(JSON.stringify({ error: CANARY, [CANARY]: CANARY }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  service.url = `http://127.0.0.1:${server.address().port}`;
  service.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
}
after(() => service.stop?.());

const here = world(async () => {
  await startService();
  await fill();
});
const made = {};

const name = JSON.stringify(CANARY);
const flow = (id, step) =>
  `id: ${id}\nname: ${name}\ndescription: ${name}\nretry: false\nsteps:\n${step}`;
const call = (path) =>
  `  - id: call\n    type: http\n    config: { method: POST, url: "${service.url}${path}", headers: { X-Sent: ${JSON.stringify(HEADER)} }, body: "\${input}" }\n`;

async function fill() {
  const { server } = here;
  const input = { text: CANARY, [CANARY]: [CANARY] };
  await server.call('PUT', '/api/workflows/refused', flow('refused', call('/refuses')));
  await server.call('PUT', '/api/workflows/accepted', flow('accepted', call('/accepts')));
  await server.call(
    'PUT',
    '/api/workflows/outside',
    flow(
      'outside',
      `  - id: task\n    type: external_task\n    config: { taskType: ${TYPE}, retries: 1 }\n`,
    ),
  );
  made.refused = await server.execute('refused', input, '', { 'idempotency-key': CANARY });
  made.accepted = await server.execute('accepted', input);
  const letter = await server.status(made.refused, 'dlq');
  made.letter = letter.dlq_entry_id;
  await server.status(made.accepted, 'completed');
  await makeTriggers();
  await makeTasks();
  await makeDuty();
}

async function makeTriggers() {
  const { server } = here;
  const text = { name: CANARY, description: CANARY };
  const make = (settings) =>
    server.call('POST', '/api/workflows/accepted/triggers', { ...text, ...settings });
  made.cron = await make({
    trigger_type: 'cron',
    cron_expression: '0 9 * * MON',
    input: { [CANARY]: CANARY },
  });
  made.hook = await make({
    trigger_type: 'webhook',
    authentication: 'hmac',
    filters: [{ json_path: '$.text', operator: 'equals', value: CANARY }],
  });
  // One with a wrong signature stays in the log with headers and body, one is a test that starts something.
  await fetch(`${server.url}/webhooks/${made.hook.webhook_id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-canary': HEADER, 'user-agent': HEADER },
    body: JSON.stringify({ text: CANARY }),
  });
  await server.call('POST', `/api/triggers/${made.hook.id}/test`, { body: { text: CANARY } });
  const request = await server.call('GET', `/api/triggers/${made.hook.id}/requests`);
  made.request = request.items.find((each) => each.status === 'auth_failed');
  const { taskId } = await server.call('POST', '/schedule-task', {
    taskName: CANARY,
    taskDescription: CANARY,
    scheduleType: 'daily',
    isRecurring: true,
    scheduleConfig: { time: '02:00' },
    taskConfig: {
      taskType: 'custom',
      targetConfig: { triggerType: 'http', url: `${service.url}/accepts` },
      taskPayload: { [CANARY]: CANARY },
    },
  });
  made.scheduled = taskId;
  await server.call('POST', `/api/scheduled-tasks/${taskId}/run`);
}

/** A task under way with a progress message, and one that has failed with a message. */
async function makeTasks() {
  const { server } = here;
  const poll = `/api/external-tasks/poll?taskType=${TYPE}&workerId=${encodeURIComponent(CANARY)}&workerType=${encodeURIComponent(CANARY)}&waitSeconds=5`;
  const take = async () => {
    await server.execute('outside', { text: CANARY });
    return until('a task', async () => (await server.call('GET', poll))?.[0]);
  };
  const failing = await take();
  await server.call(
    'POST',
    `/api/external-tasks/${failing.id}/fail?lockToken=${failing.lockToken}`,
    {
      message: CANARY,
      stackTrace: `${CANARY}\n${CANARY}`,
      retryable: false,
    },
  );
  const going = await take();
  await server.call(
    'POST',
    `/api/external-tasks/${going.id}/heartbeat?lockToken=${going.lockToken}`,
    { progress: 50, progressMessage: CANARY },
  );
  made.task = going.id;
  made.failedTask = failing.id;
}

/** What people on duty write: channels, rules, silences. */
async function makeDuty() {
  const { server } = here;
  await server.call('POST', '/api/channels', {
    name: CANARY,
    type: 'webhook',
    config: { url: `${service.url}/refuses` },
  });
  await server.call('POST', '/api/alert-rules', { name: CANARY, kind: 'dlq_growth', above: 0 });
  await server.call('POST', '/api/silences', {
    subject: CANARY,
    ends_at: new Date(Date.now() + 3_600_000).toISOString(),
    comment: CANARY,
  });
}

/** Every page that shows what others wrote, and whether the canary stands on it as text. */
const PAGES = [
  ['the overview', () => '/', false],
  ['workflows', () => '/workflows', true],
  ['a workflow', () => '/workflows/accepted', true],
  ['a definition', () => '/workflows/accepted?tab=definition', true],
  ['its triggers', () => '/workflows/accepted?tab=triggers', true],
  ['its executions', () => '/workflows/refused?tab=executions', false],
  ['executions', () => '/executions', false],
  ['executions found by a text', () => `/executions?q=${encodeURIComponent(CANARY)}`, true],
  ['executions found by a key', () => `/executions?key=${encodeURIComponent(CANARY)}`, true],
  ['an execution', () => `/executions/${made.refused}`, true],
  ['its values', () => `/executions/${made.accepted}?tab=values`, true],
  ['its log', () => `/executions/${made.refused}?tab=events`, false],
  ['its context', () => `/executions/${made.accepted}?tab=context`, true],
  ['dead letters', () => '/dlq', true],
  ['dead letters by cause', () => '/dlq?view=groups', false],
  ['an open letter in the list', () => `/dlq?open=${made.letter}`, true],
  ['a dead letter', () => `/dlq/${made.letter}`, true],
  ['triggers', () => '/triggers', true],
  ['a schedule', () => `/triggers/${made.cron.id}`, true],
  ['its ledger', () => `/triggers/${made.cron.id}/slots`, true],
  ['a webhook', () => `/triggers/${made.hook.id}`, true],
  ['its requests', () => `/triggers/${made.hook.id}/requests?open=${made.request.id}`, true],
  ['external tasks', () => '/tasks', true],
  ['a task under way', () => `/tasks/${made.task}`, true],
  ['a task that failed', () => `/tasks/${made.failedTask}`, true],
  ['workers', () => '/workers', true],
  ['scheduled tasks', () => '/scheduled', true],
  ['a scheduled task', () => `/scheduled/${made.scheduled}`, true],
  ['channels', () => '/channels', true],
  ['deliveries', () => '/channels?tab=deliveries', false],
  ['alerts', () => '/alerts', false],
  ['rules', () => '/alerts?tab=rules', true],
  ['silences', () => '/alerts?tab=silences', true],
  ['bulk jobs', () => '/bulk', false],
  ['nodes', () => '/nodes', false],
];

const harmless = async (page, where) => {
  assert.equal(await page.locator('img[src="x"]').count(), 0, where);
  assert.equal(await page.evaluate(() => globalThis.__ran), undefined, where);
};

test('markup of others is text on every page', () =>
  here.visit('/nodes', { allow: /status of 40[01] / }, async (page) => {
    for (const [where, path, shows] of PAGES) {
      await page.goto(path());
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      if (shows)
        await until(`${where} shows it as text`, () =>
          page.evaluate(() =>
            [...document.querySelectorAll('main, main input, main textarea')].some((each) =>
              (each.value ?? each.innerText).includes('<img src=x onerror='),
            ),
          ),
        );
      // Tips are made of what stands under the pointer.
      for (const cell of await page.locator('main [role="gridcell"]').all())
        if ((await cell.textContent()).includes('<img')) await cell.hover();
      await harmless(page, where);
    }
  }));

test('markup of others is text in the palette and in confirmations', () =>
  here.visit('/dlq', { allow: /status of 40[01] / }, async (page) => {
    await page.getByRole('row').nth(1).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search and act' }).fill(CANARY);
    await page.waitForLoadState('networkidle');
    await harmless(page, 'the palette');
    await page.keyboard.press('Escape');
    await page.goto(`/dlq/${made.letter}`);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').waitFor();
    await harmless(page, 'a confirmation');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await harmless(page, 'the question before a retry');
  }));
