// The built console from the disk, served as the real server does: with its policy, and a fresh nonce.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = join(dirname(fileURLToPath(import.meta.url)), '../dist');
const TYPES = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the build; every other address is the page. */
export async function serveFile(pathname, response) {
  const type = TYPES[extname(pathname)];
  if (type) {
    response.writeHead(200, { 'content-type': type });
    response.end(await readFile(join(DIST, normalize(pathname))));
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  const html = await readFile(join(DIST, 'index.html'), 'utf8');
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'`,
  });
  response.end(html.replace('__BASE_HREF__', '/').replace('__CSP_NONCE__', nonce));
}
