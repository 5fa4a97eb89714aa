/** An action as a curl line, for the shell. The key comes from the environment, never from here. */
import { addressOf } from '@/api/base';
import { stringifyExact } from '@/api/exact';

export interface Request {
  method: string;
  /** The path with its query, below the console's base. */
  path: string;
  body?: unknown;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, path, body }: Request): string {
  const parts = ['curl -sS', '-X', method, '-H "Authorization: Bearer $REFIRE_API_KEY"'];
  if (body !== undefined) {
    parts.push("-H 'Content-Type: application/json'");
    parts.push('-d', quote(typeof body === 'string' ? body : stringifyExact(body)));
  }
  parts.push(quote(addressOf(path)));
  return parts.join(' ');
}
