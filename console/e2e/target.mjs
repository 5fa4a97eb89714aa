// A service that fails as it is told: `/ok`, `/fail/503`, `/flaky/<name>` (fails until repaired), `/slow/<name>`
// (answers when it is let go).
import { createServer } from 'node:http';

export async function startTarget() {
  const healthy = new Set();
  const held = new Map();
  const seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ path: request.url, method: request.method, headers: request.headers, body });
      const [, kind, name] = request.url.split(/[/?]/);
      const send = (status, value) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      if (kind === 'fail') send(Number(name), { error: `told to answer ${name}` });
      else if (kind === 'flaky' && !healthy.has(name)) send(503, { error: 'down' });
      else if (kind === 'slow' && !healthy.has(name)) {
        const waiting = held.get(name) ?? [];
        held.set(name, [...waiting, () => send(200, { ok: true })]);
      } else send(200, { ok: true, echo: body });
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    /** From now on `/flaky/<name>` and `/slow/<name>` answer well. */
    repair(name) {
      healthy.add(name);
      for (const go of held.get(name) ?? []) go();
      held.delete(name);
    },
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
