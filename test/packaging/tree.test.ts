import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleCoordinator } from '../../packaging/bundle.js';
import { completeTree } from '../../packaging/tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test("the coordinator's folder holds the database for the Node that is shipped", async () => {
  const folder = await temporaryFolder();
  await bundleCoordinator(folder, { version: '1.2.3', releaseKey: null });
  await completeTree(folder, { installedBy: 'deb', platform: 'linux-arm64' });
  const native = join(folder, 'node_modules', 'better-sqlite3');
  const manifest = JSON.parse(await readFile(join(native, 'package.json'), 'utf8')) as object;
  // Version 12 does not run on Node 24.19 and newer.
  expect(manifest).toMatchObject({ version: expect.stringMatching(/^13\./) });
  expect(existsSync(join(native, 'prebuilds', 'linux-arm64.node'))).toBe(true);
});
