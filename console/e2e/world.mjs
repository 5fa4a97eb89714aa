// What a scenario file starts with: one server, one target, one browser, and the workflows they use.
import { after, before } from 'node:test';
import { logIn, openPage, startBrowser } from './browser.mjs';
import { startServer } from './server.mjs';
import { startTarget } from './target.mjs';

/** Scenarios beyond the core run in the long form of the tests. */
export const long =
  process.env.REFIRE_TEST_LONG === '1' ? {} : { skip: 'REFIRE_TEST_LONG=1 runs it' };

const flow = (id, url, retry, more = '') => `id: ${id}
name: ${id}
retry: ${retry}
steps:
  - id: call
    type: http
    config: { method: POST, url: "${url}", body: { sent: "\${input.name}" } }
${more}`;

/** Waits so long that only a person ends it. */
const SLOW_RETRY = '{ maxRetries: 5, initialDelay: 10m, strategy: fixed }';
const NO_RETRY = '{ maxRetries: 1, initialDelay: 10ms, strategy: fixed }';

export async function saveWorkflows(server, target) {
  const save = (id, text) => server.call('PUT', `/api/workflows/${id}`, text);
  await save('good', flow('good', `${target.url}/ok`, NO_RETRY));
  await save('bad', flow('bad', `${target.url}/fail/400`, NO_RETRY));
  await save('flaky', flow('flaky', `${target.url}/flaky/\${input.name}`, SLOW_RETRY));
  await save('slow', flow('slow', `${target.url}/slow/\${input.name}`, SLOW_RETRY));
  await save(
    'trip',
    `id: trip
name: trip
retry: ${SLOW_RETRY}
steps:
  - id: hotel
    type: http
    compensate: cancel_hotel
    config: { method: POST, url: "${target.url}/ok" }
  - id: flight
    type: http
    config: { method: POST, url: "${target.url}/flaky/\${input.name}" }
  - id: cancel_hotel
    type: http
    config: { method: POST, url: "${target.url}/ok/undo" }
`,
  );
}

/** Starts the world before the file's tests and ends it after them; `prepare` adds what they look at. */
export function world(prepare = async () => {}, options = {}) {
  const here = {};
  before(async () => {
    here.target = await startTarget();
    here.server = await startServer(options);
    here.browser = await startBrowser();
    await saveWorkflows(here.server, here.target);
    await prepare(here);
  });
  after(async () => {
    await here.browser?.close();
    await here.server?.stop();
    await here.target?.stop();
  });
  /** A fresh profile that is logged in and shows a path; `body` uses it. */
  here.visit = async (path, options, body) => {
    const run = body ?? options;
    const opened = await openPage(here.browser, here.server, {
      allow: /status of 401 .*\/api\/session/,
      ...(body ? options : {}),
    });
    try {
      await logIn(opened.page, here.server, path);
      await run(opened.page, opened);
    } catch (error) {
      // What went wrong first is told; what the page logged then is no news.
      await opened.context.close();
      throw error;
    }
    await opened.close();
  };
  return here;
}
