/// <reference types="vitest/config" />
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The server fills these in; the development server does it here. */
function placeholders(): Plugin {
  return {
    name: 'refire-placeholders',
    apply: 'serve',
    transformIndexHtml: (html) => html.replace('__CSP_NONCE__', '').replace('__BASE_HREF__', '/'),
  };
}

const server = process.env.REFIRE_URL ?? 'http://127.0.0.1:7373';
const key = process.env.REFIRE_API_KEY;

/** Requests that go to the Refire server in development, with the key of the environment. */
const proxied = Object.fromEntries(
  ['/api', '/webhooks', '/docs', '/openapi.json', '/version', '/task-', '/schedule-task'].map(
    (path) => [
      path,
      { target: server, headers: key ? { Authorization: `Bearer ${key}` } : undefined },
    ],
  ),
);

/**
 * Few chunks: foreign code apart from ours, so that it stays cached when only ours changes, and what the first
 * page needs apart from what comes later. Without groups every import of a page would list some sixty files.
 */
const CHUNKS = [
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 9 },
  {
    name: 'codemirror',
    test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)\//,
    priority: 9,
  },
  { name: 'dagre', test: /node_modules\/@dagrejs\//, priority: 9 },
  {
    name: 'tanstack',
    test: /node_modules\/@tanstack\/(?!react-virtual|virtual-core)/,
    priority: 9,
  },
  { name: 'mantine', test: /node_modules\//, tags: ['$initial' as const], priority: 8 },
  { name: 'app', test: /\/src\//, tags: ['$initial' as const], priority: 8 },
  { name: 'parts', test: /node_modules\//, priority: 7 },
  {
    name: 'kit',
    test: /\/src\/(?:api\/queries|ui\/(?!editor|definition|graph|chart))/,
    minShareCount: 2,
    priority: 6,
  },
];

export default defineConfig({
  base: './',
  plugins: [react(), placeholders()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: { proxy: proxied },
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test.setup.ts'],
    css: false,
  },
});
