/**
 * The one way to the server. Typed calls are `read('/api/…', {…})` and `answer(api.POST('/api/…', {…}))`;
 * what is sent as text, and what the description does not know, goes by `call`. Refusals are thrown as
 * ApiProblem.
 */
import createClient from 'openapi-fetch';
import { learnServerTime } from '@/live/clock';
import { reached, unreachable } from '@/live/reach';
import { apiBase } from './base';
import { parseExact, stringifyExact } from './exact';
import { ApiProblem, type Problem, UNREACHABLE, UNREADABLE } from './problem';
import type { paths } from './schema.gen';

/** Waits until somebody has logged in again over the page; the request is then sent again. */
type LogInAgain = () => Promise<void>;
let logInAgain: LogInAgain | undefined;

export function onSessionEnd(handler: LogInAgain) {
  logInAgain = handler;
}

const values = new WeakMap<Response, unknown>();
const texts = new WeakMap<Response, string>();

function problemOf(response: Response, body: unknown, text: string): ApiProblem {
  const known = typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
  const problem: Problem = known
    ? (body as Problem)
    : {
        type: '',
        title: `${response.status} ${response.statusText}`.trim(),
        status: response.status,
        code: `HTTP ${response.status}`,
        detail: text.slice(0, 300),
      };
  const after = Number(response.headers.get('retry-after'));
  return new ApiProblem(problem, response.headers.get('x-request-id'), after > 0 ? after : null);
}

async function reach(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    reached();
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    unreachable();
    throw new ApiProblem({ type: '', title: '', status: 0, code: UNREACHABLE, detail: '' });
  }
}

/** Sends a request, reads its JSON exactly, and throws what was refused. */
async function send(request: Request): Promise<Response> {
  request.headers.set('X-Refire-Console', '1');
  const again = request.clone();
  let response = await reach(request);
  if (response.status === 401 && logInAgain && !request.url.endsWith('/api/session')) {
    await logInAgain();
    response = await reach(again);
  }
  learnServerTime(response.headers.get('date'));
  const text = await response.text();
  let body: unknown;
  try {
    body =
      /json/.test(response.headers.get('content-type') ?? '') && text ? parseExact(text) : text;
  } catch {
    throw new ApiProblem({
      type: '',
      title: '',
      status: response.status,
      code: UNREADABLE,
      detail: text.slice(0, 300),
    });
  }
  if (!response.ok) throw problemOf(response, body, text);
  const bare = new Response(null, { status: 204, headers: response.headers });
  values.set(bare, body);
  texts.set(bare, text);
  return bare;
}

export const api = createClient<paths>({
  baseUrl: apiBase,
  fetch: send,
  // Lists are text with commas.
  querySerializer: { array: { style: 'form', explode: false } },
  bodySerializer: (body) => (typeof body === 'string' ? body : stringifyExact(body)),
});

/** The value of a typed call. */
export async function answer<T>(
  sent: Promise<{ data?: T; response: Response }>,
): Promise<NonNullable<T>> {
  return values.get((await sent).response) as NonNullable<T>;
}

/** As `answer`, with the answer's headers (ETag). */
export async function answerWithHeaders<T>(
  sent: Promise<{ data?: T; response: Response }>,
): Promise<{ value: NonNullable<T>; headers: Headers }> {
  const { response } = await sent;
  return { value: values.get(response) as NonNullable<T>, headers: response.headers };
}

/** As `answer`, with the text the value was read from. */
export async function answerWithText<T>(
  sent: Promise<{ data?: T; response: Response }>,
): Promise<{ value: NonNullable<T>; text: string }> {
  const { response } = await sent;
  return { value: values.get(response) as NonNullable<T>, text: texts.get(response) ?? '' };
}

/** The addresses that can be read. */
type Readable = {
  [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never;
}[keyof paths];
type Get<Path extends Readable> = paths[Path] extends { get: infer Known } ? Known : never;
type Asked<Path extends Readable> =
  Get<Path> extends { parameters: { query?: infer Known } }
    ? { [Name in keyof Known]?: Query[string] }
    : Record<string, never>;
type Answered<Path extends Readable> =
  Get<Path> extends { responses: { 200: { content: { 'application/json': infer Value } } } }
    ? Value
    : never;

/**
 * A typed answer to a question that is asked as the page's address has it: every value is text, and lists
 * are text with commas. Names that the server does not know, and values it does not give, are mistakes.
 */
export function read<Path extends Readable>(
  path: Path,
  options: { path?: Record<string, string>; query?: Asked<Path>; signal?: AbortSignal } = {},
): Promise<Answered<Path>> {
  const at = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(options.path?.[name] ?? ''),
  );
  return call('GET', at, { query: options.query as Query, signal: options.signal });
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** `?a=1&b=2` of the values that are there. */
export function queryText(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text ? `?${text}` : '';
}

/** A call by path, for what the description of the API does not type. */
export async function call<T>(
  method: string,
  path: string,
  options: { query?: Query; body?: unknown; signal?: AbortSignal; headers?: HeadersInit } = {},
): Promise<T> {
  const headers = new Headers(options.headers);
  if (options.body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/json');
  const request = new Request(apiBase + path + queryText(options.query), {
    method,
    headers,
    signal: options.signal,
    body:
      options.body === undefined
        ? undefined
        : typeof options.body === 'string'
          ? options.body
          : stringifyExact(options.body),
  });
  return values.get(await send(request)) as T;
}
