// Writes src/api/schema.gen.ts, the types of the HTTP API, from ../openapi.json.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const source = new URL('../../openapi.json', import.meta.url);
const target = new URL('../src/api/schema.gen.ts', import.meta.url);

const types = astToString(await openapiTS(JSON.parse(await readFile(source, 'utf8'))));
const head = '// Written by `npm run api` from openapi.json. Do not edit.\n\n';
await writeFile(target, head + types);
