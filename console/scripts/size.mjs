// Fails when the built console is larger than its budgets. Sizes are of gzip, but the folder's.
import { readdir, readFile, stat } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

const KB = 1000;
const BUDGET = {
  firstScript: 225 * KB,
  firstStyle: 20 * KB,
  page: 35 * KB,
  editor: 150 * KB,
  folder: 2200 * KB,
};
const EDITOR = /^(codemirror|Editor|Diff)-/;
const VENDOR = /^(react|tanstack|dagre|mantine|parts)-/;

const dist = new URL('../dist/', import.meta.url);
const assets = new URL('assets/', dist);
const gz = async (name) => gzipSync(await readFile(new URL(name, assets)), { level: 9 }).length;

const html = await readFile(new URL('index.html', dist), 'utf8');
const first = [...html.matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map((found) => found[1]);
const names = await readdir(assets);
const sizes = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, await gz(name)])),
);
const sum = (list) => list.reduce((total, name) => total + sizes[name], 0);

async function folderBytes(folder) {
  let total = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const url = new URL(entry.name + (entry.isDirectory() ? '/' : ''), folder);
    total += entry.isDirectory() ? await folderBytes(url) : (await stat(url)).size;
  }
  return total;
}

const scripts = names.filter((name) => name.endsWith('.js'));
const editor = scripts.filter((name) => EDITOR.test(name));
const pages = scripts.filter((n) => !first.includes(n) && !EDITOR.test(n) && !VENDOR.test(n));
const largest = pages.toSorted((a, b) => sizes[b] - sizes[a])[0];
const lines = [
  ['first load, scripts', sum(first.filter((n) => n.endsWith('.js'))), BUDGET.firstScript],
  ['first load, styles', sum(first.filter((n) => n.endsWith('.css'))), BUDGET.firstStyle],
  [`largest page chunk (${largest})`, largest ? sizes[largest] : 0, BUDGET.page],
  ['editor', sum(editor), BUDGET.editor],
  ['dist, not compressed', await folderBytes(dist), BUDGET.folder],
];

let over = false;
for (const [what, bytes, budget] of lines) {
  const mark = bytes > budget ? 'OVER' : 'ok';
  over ||= bytes > budget;
  console.log(
    `${mark.padEnd(5)}${(bytes / KB).toFixed(1).padStart(8)} of ${budget / KB} kB  ${what}`,
  );
}
if (over) process.exit(1);
