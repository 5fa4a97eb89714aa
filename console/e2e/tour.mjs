// Pictures of every page, of a server with something to see. `node e2e/tour.mjs docs` writes those of the guides
// into ../docs/console; `node e2e/tour.mjs` writes every page in light, dark, narrow and Chinese into screenshots/.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logIn, openPage, startBrowser } from './browser.mjs';
import { startServer } from './server.mjs';
import { startTarget } from './target.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const isGuide = process.argv[2] === 'docs';
const folder = isGuide ? join(here, '../../docs/console') : join(here, '../screenshots');

const WORKFLOWS = (url) => ({
  customer_360_view: `id: customer_360_view
name: Customer 360° view
description: Collects what we know about a customer and posts it to the team's channel.
retry: { maxRetries: 5, initialDelay: 2s, strategy: exponential, jitter: none }
steps:
  - id: tickets
    type: http
    config: { method: POST, url: "${url}/ok/tickets", body: { customer: "\${input.customer_id}" } }
  - id: crm
    type: http
    config: { method: POST, url: "${url}/flaky/crm", body: { customer: "\${input.customer_id}" } }
  - id: notify
    type: http
    needs: [tickets, crm]
    config: { method: POST, url: "${url}/ok/notify" }
`,
  server_health_check: `id: server_health_check
name: Server health
steps:
  - id: check
    type: http
    config: { url: "${url}/ok/health" }
`,
  incident_created: `id: incident_created
name: ServiceNow incident
retry: { maxRetries: 1, initialDelay: 100ms, strategy: fixed, jitter: none }
steps:
  - id: assign
    type: http
    config: { method: POST, url: "${url}/fail/503", body: { incident: "\${input.incident_id}" } }
`,
  book_trip: `id: book_trip
name: Book a trip
steps:
  - id: hotel
    type: http
    compensate: cancel_hotel
    config: { method: POST, url: "${url}/ok/hotel" }
  - id: flight
    type: http
    config: { method: POST, url: "${url}/ok/flight" }
  - id: cancel_hotel
    type: http
    config: { method: POST, url: "${url}/ok/cancel" }
`,
  jira_ticket: `id: jira_ticket
name: Jira ticket by n8n
steps:
  - id: create
    type: external_task
    config: { taskType: n8n-jira-create, timeout: 1h, input: { summary: "\${input.summary}" } }
`,
});

/** Everything that the pages show. */
async function fill(server, target) {
  for (const [id, text] of Object.entries(WORKFLOWS(target.url)))
    await server.call('PUT', `/api/workflows/${id}`, text);
  const trigger = (workflow, settings) =>
    server.call('POST', `/api/workflows/${workflow}/triggers`, settings);
  const health = await trigger('server_health_check', {
    trigger_type: 'schedule',
    every: '1s',
    name: 'Health, every second',
  });
  const cron = await trigger('customer_360_view', {
    trigger_type: 'cron',
    cron_expression: '0 9 * * MON',
    timezone: 'Asia/Taipei',
    name: 'Mondays at nine',
    input: { customer_id: 'C-1001' },
  });
  const hook = await trigger('incident_created', {
    trigger_type: 'webhook',
    authentication: 'hmac',
    signature_header: 'X-ServiceNow-Signature',
    name: 'ServiceNow',
    filters: [{ json_path: '$.event_type', operator: 'equals', value: 'incident.created' }],
  });
  for (const [number, kind] of ['created', 'created', 'closed', 'created'].entries())
    await server.call('POST', `/api/triggers/${hook.id}/test`, {
      body: { event_type: `incident.${kind}`, incident_id: `INC001234${number}`, priority: 2 },
    });
  await fetch(`${server.url}/webhooks/${hook.webhook_id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-servicenow-signature': 'sha256=00' },
    body: '{"event_type":"incident.created","incident_id":"INC0099999"}',
  });
  const view = await server.execute('customer_360_view', {
    customer_id: 'C-1001',
    include_crm: true,
  });
  const trip = await server.execute('book_trip', { from: 'TPE', to: 'PRG' });
  const task = await server.execute('jira_ticket', { summary: 'The printer is on fire' });
  await server.execute('jira_ticket', { summary: 'Order more toner' });
  await server.status(trip, 'completed');
  await server.status(view, 'retrying');
  await server.call(
    'GET',
    '/api/external-tasks/poll?taskType=n8n-jira-*&workerId=n8n-1&workerType=n8n',
  );
  const scheduled = await server.call('POST', '/schedule-task', {
    isRecurring: true,
    scheduleType: 'monthly',
    scheduleConfig: { dayOfMonth: 1, time: '09:00', timezone: 'Asia/Taipei' },
    taskName: 'Monthly report',
    taskDescription: 'Sales of the last month, by region',
    taskConfig: {
      taskType: 'report',
      targetConfig: { triggerType: 'http', url: `${target.url}/ok/report` },
      taskPayload: { report: 'sales' },
    },
  });
  await server.call('POST', `/api/scheduled-tasks/${scheduled.taskId}/run`);
  const letters = await waitFor(async () => {
    const page = await server.call('GET', '/api/dlq');
    return page.items.length >= 3 && page.items;
  });
  await server.call('POST', '/api/channels', {
    name: 'On call',
    type: 'webhook',
    config: { url: `${target.url}/ok/told` },
  });
  await server.call('POST', '/api/channels', {
    name: 'Team of ServiceNow',
    type: 'email',
    kinds: ['dead_letter.created', 'trigger.overdue'],
    workflows: ['incident_*'],
    config: { host: 'smtp.example.com', from: 'refire@example.com', to: ['oncall@example.com'] },
  });
  await server.call('POST', '/api/alert-rules', {
    name: 'Incidents fail',
    kind: 'dlq_growth',
    workflow: 'incident_created',
    above: 1,
  });
  const job = await server.call('POST', '/api/dlq/bulk', {
    action: 'retry',
    filter: { workflow_id: 'incident_created' },
    transform: { merge: { priority: 1, note: 'was ${input.priority}' } },
  });
  await waitFor(
    async () => (await server.call('GET', `/api/bulk/${job.id}`)).state === 'completed',
  );
  await waitFor(async () => {
    const { items } = await server.call('GET', '/api/alerts?phase=firing');
    return items.length > 0;
  });
  return { view, trip, task, health, cron, hook, scheduled, job, letter: letters[0] };
}

async function waitFor(question) {
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Name, path and whether it is in the guides. */
const pages = (made) => [
  ['overview', '/', true],
  ['executions', '/executions', true],
  ['execution', `/executions/${made.view}`, true],
  ['execution-trip', `/executions/${made.trip}`, false],
  ['dead-letters', '/dlq', true],
  ['dead-letter', `/dlq/${made.letter.id}`, true],
  ['workflows', '/workflows', true],
  ['workflow', '/workflows/customer_360_view', true],
  ['definition', '/workflows/customer_360_view?tab=definition', true],
  ['versions', '/workflows/customer_360_view?tab=versions', false],
  ['retry', '/workflows/customer_360_view?tab=retry', true],
  ['run', '/workflows/customer_360_view?tab=run', false],
  ['triggers', '/triggers', true],
  ['cron', `/triggers/${made.cron.id}`, true],
  ['schedule', `/triggers/${made.health.id}`, false],
  ['ledger', `/triggers/${made.health.id}/slots`, false],
  ['webhook', `/triggers/${made.hook.id}`, true],
  ['requests', `/triggers/${made.hook.id}/requests`, false],
  ['new-trigger', '/workflows/server_health_check/triggers/new?type=cron', false],
  ['tasks', '/tasks', true],
  ['workers', '/workers', false],
  ['scheduled', '/scheduled', false],
  ['scheduled-task', `/scheduled/${made.scheduled.taskId}`, true],
  ['bulk', '/bulk', false],
  ['bulk-job', `/bulk/${made.job.id}`, true],
  ['channels', '/channels', true],
  ['deliveries', '/channels?tab=deliveries', false],
  ['alerts', '/alerts', true],
  ['rules', '/alerts?tab=rules', false],
  ['targets', '/targets', false],
  ['nodes', '/nodes', false],
];

const LOOKS = isGuide
  ? [{ name: '', settings: { theme: 'light' }, height: 1000 }]
  : [
      { name: '-light', settings: { theme: 'light' } },
      { name: '-dark', settings: { theme: 'dark' } },
      { name: '-narrow', settings: { theme: 'light' }, width: 390, height: 844 },
      { name: '-zh', settings: { theme: 'light', language: 'zh-TW' } },
    ];

const target = await startTarget();
const server = await startServer();
const browser = await startBrowser();
try {
  await mkdir(folder, { recursive: true });
  const made = await fill(server, target);
  for (const look of LOOKS) {
    const opened = await openPage(browser, server, { allow: /401/, ...look, settings: undefined });
    await logIn(opened.page, server, '/nodes');
    await opened.page.evaluate((settings) => {
      const kept = JSON.parse(localStorage.getItem('refire.settings') ?? '{}');
      localStorage.setItem('refire.settings', JSON.stringify({ ...kept, ...settings }));
    }, look.settings);
    for (const [name, path, inGuide] of pages(made)) {
      if (isGuide && !inGuide) continue;
      await opened.page.goto(path);
      await opened.page.getByRole('heading', { level: 1 }).waitFor();
      await opened.page.waitForLoadState('networkidle');
      await opened.page.screenshot({ path: join(folder, `${name}${look.name}.png`) });
      console.log(`${name}${look.name}`);
    }
    await opened.close();
  }
} finally {
  await browser.close();
  await server.stop();
  await target.stop();
}
