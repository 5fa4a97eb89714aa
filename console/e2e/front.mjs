// Stands before a real server and serves the console from the disk, so that a change of the console is tried
// without building the server again. `REFIRE_E2E_DIST=1` puts it before every server of the scenarios.
import { request as ask, createServer } from 'node:http';
import { serveFile } from './files.mjs';

const isPage = (request) =>
  request.method === 'GET' &&
  (/^\/(assets\/|theme\.js|favicon\.svg)/.test(request.url) ||
    /text\/html/.test(request.headers.accept ?? ''));

export async function startFront(port) {
  const server = createServer(async (request, response) => {
    if (isPage(request)) {
      await serveFile(new URL(request.url, 'http://here').pathname, response);
      return;
    }
    const { method, url: path, headers } = request;
    const passed = ask({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    // A server that is gone is gone for the browser, too.
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  // One whose server was killed and started again is forgotten.
  server.unref();
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
