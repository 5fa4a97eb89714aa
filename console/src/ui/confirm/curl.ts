/** An action as a curl line, for the shell. The key comes from the environment, never from here. */
import { addressOf } from '@/api/base';
import { stringifyExact } from '@/api/exact';

export interface Request {
  method: string;
  /** The path with its query, below the console's base. */
  path: string;
  body?: unknown;
  /** More headers, also another content type. */
  headers?: Record<string, string>;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, path, body, headers = {} }: Request): string {
  const parts = ['curl -sS', '-X', method, '-H "Authorization: Bearer $REFIRE_API_KEY"'];
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  for (const [name, value] of Object.entries({ ...type, ...headers }))
    parts.push('-H', quote(`${name}: ${value}`));
  if (body !== undefined)
    parts.push('-d', quote(typeof body === 'string' ? body : stringifyExact(body)));
  parts.push(quote(addressOf(path)));
  return parts.join(' ');
}
