/** A kind of local server is one folder, and one row in each document. */
import { BACKENDS, FINGERPRINTS } from '@inference-gateway/agent/backends/local-servers';
import type { ServerKind } from '@inference-gateway/agent/backends/server-kind';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tableRows } from '../../support/markdown-table.js';

const BACKENDS_FOLDER = 'packages/agent/src/backends';
const DOCUMENT = readFileSync('docs/local-servers.md', 'utf8');

const folders = readdirSync(BACKENDS_FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .filter((name) => existsSync(`${BACKENDS_FOLDER}/${name}/kind.ts`));

test('every folder with a kind is a backend, and no other is', () => {
  expect(folders.toSorted()).toEqual([...BACKENDS].toSorted());
});

test.each(folders)('%s exports all that a kind has', async (folder) => {
  const module = `@inference-gateway/agent/backends/${folder}/kind`;
  const { KIND } = (await import(module)) as { readonly KIND: ServerKind };
  expect(KIND.name).toBe(folder);
  expect(FINGERPRINTS).toContainEqual({ ...KIND.fingerprint, backend: folder });
  expect(Object.values(KIND.programs).flat()).not.toEqual([]);
});

test.each(folders)(
  '%s has its rows in docs/local-servers.md, and a stand-in for tests',
  (folder) => {
    const named = tableRows(DOCUMENT, 'Server').map(([servers = '']) => servers);
    expect(named.filter((servers) => servers.includes(`\`${folder}\``))).not.toEqual([]);
    const standIn = folder === 'openai' ? 'fake-openai-server' : `local-servers/${folder}`;
    expect(existsSync(`test/support/${standIn}.ts`)).toBe(true);
  },
);
