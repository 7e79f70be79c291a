import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// Each start of a coordinator, and each test with a store, pays for the modules that the thread
// loads: zod alone took half of that time.
test('the store’s thread loads no package beside better-sqlite3', async () => {
  const code = "await import('@inference-gateway/coordinator/store/sqlite/engine')";
  const env = { ...process.env, NODE_DEBUG: 'esm' };
  const options = { env, maxBuffer: 16 * 1024 ** 2 };
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], options);
  const { stderr } = await run;
  expect(stderr).toContain('/sqlite/engine.js');
  const packages = [...stderr.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)];
  expect(new Set(packages.map(([, name]) => name))).toEqual(new Set());
});
