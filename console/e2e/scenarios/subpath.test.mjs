// The console below a path of another site.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, startBrowser } from '../browser.mjs';
import { freePort, startServer } from '../server.mjs';
import { long } from '../world.mjs';

let browser;
let server;

before(async () => {
  if (long.skip) return;
  const port = await freePort();
  server = await startServer({
    port,
    env: { REFIRE_PUBLIC_URL: `http://127.0.0.1:${port}/ops/refire` },
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('pages, files, calls and the way back stay below the path', long, async () => {
  const below = { ...server, url: server.url };
  const opened = await openPage(browser, below, { allow: /status of 401 .*\/api\/session/ });
  const { page } = opened;
  try {
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('/ops/refire/executions?status=dlq');
    await page.getByLabel('API key').fill(server.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(/\/ops\/refire\/executions\?status=dlq$/);
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.waitForURL(/\/ops\/refire\/workflows$/);
    await page.reload();
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    assert.deepEqual(
      asked.filter((path) => !path.startsWith('/ops/refire/')),
      [],
    );
  } finally {
    await opened.close();
  }
});
