/** A signed request as a command for a shell. It has a signature and never the secret. */
import type { Schema } from '@/api/types';

type Sent = Schema<'SentRequest'>;

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function signedCurl({ url, headers, body, key_header }: Sent): string {
  const lines = headers.map(({ name, value }) => {
    const isKey = key_header && name.toLowerCase() === key_header.toLowerCase();
    if (!isKey) return `-H ${quote(`${name}: ${value}`)}`;
    const before = value.startsWith('Bearer ') ? 'Bearer ' : '';
    return `-H ${quote(`${name}: ${before}`)}"$REFIRE_WEBHOOK_KEY"`;
  });
  return [`curl -sSi ${quote(url)}`, ...lines, `--data-binary ${quote(body)}`].join(' \\\n  ');
}
