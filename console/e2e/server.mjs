// The real server, on a free port and with a folder of its own that is deleted at the end.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFront } from './front.mjs';

const READY_MS = 60_000;
const STOP_MS = 15_000;

/** A port nobody listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Asks until the answer is right. There is no other wait in these tests. */
export async function until(what, check, ms = READY_MS) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    try {
      const found = await check();
      if (found) return found;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not happen within ${ms} ms${last ? `: ${last}` : ''}`);
}

/**
 * Starts `refire serve --dev`. With `data` a stopped server's folder is used again.
 * @param {{ port?: number, data?: string, env?: Record<string, string>, args?: string[] }} options
 */
export async function startServer(options = {}) {
  const binary = process.env.REFIRE_BIN;
  if (!binary) throw new Error('REFIRE_BIN must name the refire binary');
  const port = options.port ?? (await freePort());
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'refire-e2e-')));
  const url = `http://127.0.0.1:${port}`;
  const hasOwnAddress = options.env?.REFIRE_PUBLIC_URL !== undefined;
  const front = process.env.REFIRE_E2E_DIST && !hasOwnAddress ? await startFront(port) : undefined;
  const address = front ? { REFIRE_PUBLIC_URL: front.url } : {};
  const args = ['serve', '--dev', '--listen', `127.0.0.1:${port}`, '--data-dir', data];
  const child = spawn(binary, [...args, ...(options.args ?? [])], {
    // Most targets fail on purpose, and all of them are one host.
    env: {
      ...process.env,
      RUST_LOG: 'warn',
      REFIRE_BREAKERS: 'off',
      ...address,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-20_000);
    });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await until('the server is ready', async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
    return (await fetch(`${url}/readyz`)).ok;
  });
  const key = (await readFile(join(data, 'admin.key'), 'utf8')).trim();

  const call = async (method, path, body, headers = {}) => {
    const text = typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined
          ? {}
          : { 'content-type': text ? 'application/yaml' : 'application/json' }),
        ...headers,
      },
      body: body === undefined || text ? body : JSON.stringify(body),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
    return answer ? JSON.parse(answer) : undefined;
  };

  return {
    url: front?.url ?? url,
    port,
    key,
    data,
    call,
    output: () => output,
    /** Starts an execution and returns its id. */
    async execute(workflow, input = {}, query = '', headers = {}) {
      const started = await call(
        'POST',
        `/api/workflows/${workflow}/execute${query}`,
        input,
        headers,
      );
      return started.execution_id;
    },
    /** Waits until an execution has one of the statuses. */
    status(id, ...wanted) {
      return until(`${id} is ${wanted.join(' or ')}`, async () => {
        const execution = await call('GET', `/api/executions/${id}`);
        return wanted.includes(execution.status) && execution;
      });
    },
    /** Ends the process at once, as a power cut would; its data stays. */
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      await front?.stop();
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
      await rm(data, { recursive: true, force: true });
    },
  };
}
