// A stand-in for a server that starts 10,000 executions every second: it serves the built console as the real
// one does, and its lists are other rows at every look. One execution has a log of 10,000 events.
import { createServer } from 'node:http';
import { serveFile } from './files.mjs';

const PER_SECOND = 10_000;
const WORKFLOWS = ['customer_360_view', 'server_health_check', 'incident_created', 'book_trip'];
/** Steps and attempts of the long execution: a step's first attempt has three events, each retry four. */
const STEPS = 240;
const ATTEMPTS = 11;
export const LONG_ID = 'exec_01m7gg8ap4fzsbyyy3h99vqfbj';

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The id of the nth execution: they sort by time. */
function idOf(n) {
  let rest = n;
  let text = '';
  for (let place = 0; place < 10; place += 1) {
    text = LETTERS[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return `exec_01m7gg8${text.padStart(19, '0')}`;
}

const numberOf = (id) =>
  [...id.slice(-10)].reduce((sum, letter) => sum * 32 + LETTERS.indexOf(letter), 0);

/** The nth execution as it is now: pending, running, then mostly done. */
function executionOf(n, began) {
  const created = began + (n * 1_000) / PER_SECOND;
  const age = Date.now() - created;
  const failing = n % 50 === 0;
  const status = age < 20 ? 'pending' : age < 400 ? 'running' : failing ? 'retrying' : 'completed';
  const at = (ms) => new Date(created + ms).toISOString();
  return {
    execution_id: idOf(n),
    workflow_id: WORKFLOWS[n % WORKFLOWS.length],
    workflow_version: 7,
    status,
    phase: null,
    error: failing && age > 400 ? failure('503 from crm.example.com') : null,
    retry_count: failing ? 1 : 0,
    max_retries: 5,
    next_retry_at: status === 'retrying' ? at(60_000) : null,
    trigger_type: 'webhook',
    trigger_id: null,
    triggered_by: 'admin',
    idempotency_key: null,
    priority: 5,
    delay_until: null,
    created_at: at(0),
    started_at: at(20),
    completed_at: status === 'completed' ? at(400) : null,
    duration_ms: status === 'completed' ? 380 : null,
    input: { n },
  };
}

const failure = (message) => ({ type: 'http_status', code: '503', message, retryable: true });

/** Events and attempts of the long execution: every step fails ten times before it succeeds. */
function longLog() {
  const start = Date.now() - 3_600_000;
  const events = [];
  const attempts = [];
  const at = () => new Date(start + events.length * 100).toISOString();
  const tell = (event_type, step_id, attempt_number, more = {}) =>
    events.push({
      sequence: events.length + 1,
      event_type,
      timestamp: at(),
      step_id,
      attempt_number,
      payload: {},
      backoff_delay_ms: null,
      failure_reason: null,
      ...more,
    });
  tell('EXECUTION_STARTED', null, null, { payload: { input: { name: 'long' } } });
  for (let step = 1; step <= STEPS; step += 1) {
    const id = `step_${step}`;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const scheduled_at = at();
      if (attempt === 1) tell('STEP_SCHEDULED', id, attempt);
      else {
        tell('RETRY_SCHEDULED', id, attempt, { backoff_delay_ms: 100 });
        tell('TIMER_FIRED', id, attempt);
      }
      const started_at = at();
      tell('STEP_STARTED', id, attempt);
      const failed = attempt < ATTEMPTS;
      const error = failed ? failure(`503 from crm.example.com, try ${attempt}`) : null;
      tell(failed ? 'STEP_FAILED' : 'STEP_COMPLETED', id, attempt, {
        payload: failed ? { error } : { output: { status: 200, body: { step } } },
        failure_reason: error?.message ?? null,
      });
      attempts.push({
        ...{ step_id: id, attempt, status: failed ? 'failed' : 'completed', compensation: false },
        ...{ scheduled_at, due_at: null, started_at, ended_at: at(), duration_ms: 80 },
        ...{ backoff_ms: attempt > 1 ? 100 : null, retryable: failed || null, early: false, error },
        ...{ response: null, node_id: null, worker_id: null, task_id: null },
      });
    }
  }
  tell('EXECUTION_COMPLETED', null, null, { payload: { output: null } });
  const execution = {
    ...executionOf(0, start),
    ...{ execution_id: LONG_ID, status: 'completed', error: null, next_retry_at: null },
    ...{ created_at: events[0].timestamp, completed_at: at(), duration_ms: 3_500_000 },
    steps: Array.from({ length: STEPS }, (_, index) => ({
      step_id: `step_${index + 1}`,
      type: 'http',
      status: 'completed',
      attempts: ATTEMPTS,
      retry_count: ATTEMPTS - 1,
      output: { status: 200 },
      error: null,
    })),
  };
  return { events, attempts, execution };
}

function overviewAt(total) {
  return {
    range: '24h',
    executions: { total, exact: false, by_status: { completed: total - 9_000, running: 9_000 } },
    success_rate: 0.998,
    retry_recovery: 0.87,
    dead_letters: { pending: 0, oldest: null, newest: null, new_in_range: 0 },
    open: { running: 9_000, retrying: 200, waiting: 0, paused: 0, pending: 200 },
    triggers: { enabled: 3, overdue: 0 },
    workers: { active: 0, idle: 0, dead: 0 },
    nodes: { alive: 1 },
    tasks: { pending: 0, locked: 0 },
  };
}

/** Starts it; `looks` counts how often a list was asked for, `big` is the body of one execution's input. */
export async function startStandIn({ big } = {}) {
  const began = Date.now() - 3_600_000;
  const long = longLog();
  const here = { looks: 0, events: long.events.length };
  const newest = () => Math.floor(((Date.now() - began) * PER_SECOND) / 1_000);

  const page = (items, query) => {
    const from = Number(query.get('cursor') ?? 0);
    const limit = Number(query.get('limit') ?? 100);
    const next = from + limit;
    return {
      items: items.slice(from, next),
      next_cursor: next < items.length ? String(next) : null,
    };
  };
  const executions = (query) => {
    here.looks += 1;
    const ids = query.get('ids')?.split(',');
    if (ids) return { items: ids.map((id) => executionOf(numberOf(id), began)), next_cursor: null };
    const limit = Number(query.get('limit') ?? 100);
    const from = Number(query.get('cursor') ?? newest());
    return {
      items: Array.from({ length: limit }, (_, index) => executionOf(from - index, began)),
      next_cursor: String(from - limit),
    };
  };
  const answers = {
    '/api/session': () => ({
      ...{ actor: 'admin', scopes: ['admin'], expires_at: null, version: '0.1.0', dev: false },
      ...{ node_id: 'node_standin', public_url: null, server_time: new Date().toISOString() },
    }),
    '/api/executions': executions,
    '/api/executions/count': () => ({
      ...{ total: 10_000, exact: false },
      by_status: { completed: 9_000, running: 800, retrying: 200 },
    }),
    '/api/overview': () => overviewAt(newest()),
    '/api/trouble': () => ({ items: [], quiet_since: new Date(began).toISOString() }),
    '/api/dlq/summary': () => ({ count: 0, oldest: null, newest: null, groups: [] }),
    '/api/workflows': () => ({ items: [{ id: WORKFLOWS[0] }], next_cursor: null }),
    [`/api/executions/${LONG_ID}`]: () =>
      big ? { ...long.execution, input: big, steps: [] } : long.execution,
    [`/api/executions/${LONG_ID}/events`]: (query) => page(long.events, query),
    [`/api/executions/${LONG_ID}/attempts`]: () => ({ items: long.attempts, next_cursor: null }),
  };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://here');
    const answer = answers[pathname] ?? (() => ({ items: [], next_cursor: null }));
    if (pathname.startsWith('/api/')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer(searchParams)));
    } else await serveFile(pathname, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  here.url = `http://127.0.0.1:${server.address().port}`;
  here.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return here;
}
