import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleCoordinator } from '../../packaging/bundle.js';
import { completeTree } from '../../packaging/tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test("the coordinator's folder holds the database for the Node that is shipped", async () => {
  const folder = await temporaryFolder();
  await bundleCoordinator(folder, { version: '1.2.3', releaseKey: null });
  await completeTree(folder, { installedBy: 'deb', platform: 'linux-arm64' });
  const require = createRequire(join(folder, 'dist', 'main.js'));
  const manifest = require.resolve('better-sqlite3/package.json');
  expect(manifest).toContain(folder);
  // Version 12 does not run on Node 24.19 and newer.
  expect(require(manifest)).toMatchObject({ version: expect.stringMatching(/^13\./) });
  expect(existsSync(join(manifest, '..', 'prebuilds', 'linux-arm64.node'))).toBe(true);
});
