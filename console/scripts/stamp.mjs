// Writes dist/stamp.json: {"sources":"<hex>"}, the SHA-256 of everything the console is built from, so that a
// committed dist which is older than its sources is noticed. A Rust test computes the same:
//
//   1. Take every regular file below console/, but nothing below a folder named `node_modules`, `dist`,
//      `coverage` or `screenshots`, wherever it lies, and no file named `.DS_Store`.
//   2. Sort by the path relative to console/, written with `/`, byte by byte.
//   3. For each file feed to one SHA-256: the path's bytes (UTF-8), one 0x00, the file's bytes, one 0x00.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', 'screenshots']);

async function files(folder) {
  const found = [];
  for (const entry of await readdir(new URL(folder, root), { withFileTypes: true })) {
    const path = folder + entry.name;
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) found.push(...(await files(`${path}/`)));
    } else if (entry.isFile() && entry.name !== '.DS_Store') {
      found.push(path.replace(/^\.\//, ''));
    }
  }
  return found;
}

export async function sourcesHash() {
  const hash = createHash('sha256');
  const sorted = (await files('./')).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const path of sorted) {
    hash.update(path).update('\0');
    hash.update(await readFile(new URL(path, root))).update('\0');
  }
  return hash.digest('hex');
}

const stamp = { sources: await sourcesHash() };
await writeFile(new URL('dist/stamp.json', root), `${JSON.stringify(stamp)}\n`);
