import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

// better-sqlite3 12 makes Node 24.19 and later abort here.
test('connections and statements that nobody needs any more are collected', async () => {
  const script = `
    import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
    for (let round = 0; round < 2; round++) {
      const database = openDatabase(process.argv[1] + '/' + round);
      for (let i = 0; i < 100; i++) database.prepare('select ' + i);
      database.close();
      const garbage = Array.from({ length: 30 }, (_, i) => new Array(1e5).fill({ i }));
      garbage.map((row) => row.map((_, j) => ({ j })));
      await new Promise((done) => setTimeout(done, 10));
    }
    console.log('collected');`;
  const args = ['--input-type=module', '-e', script, await temporaryFolder()];
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('collected\n');
});
