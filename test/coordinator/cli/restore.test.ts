import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { newestSchemaVersion } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { mkdir, readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { change, sample } from '../backup/archives.js';
import type { Sample } from '../backup/archives.js';
import { factsOf, keepBytes, openLibrary } from '../../support/open-library.js';
import { usageRow } from '../../store/store-rows.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runCoordinator, startCoordinatorProcess } from './run-coordinator.js';

test('a coordinator on a restored folder serves old keys their files and statistics', async () => {
  const open = await openLibrary();
  const picture = 'the picture '.repeat(10_000);
  const asset = await keepBytes(open, factsOf(open.anna), picture);
  open.store.recordUsage([{ ...usageRow(1), memberId: open.anna }]);
  await open.close();
  const [old, folder] = [open.dataDir, await temporaryFolder()];
  const key = await output(['key', 'create', '--user', 'anna', '--name', 'k', '--data', old]);
  const running = await startCoordinatorProcess(['--data', old]);
  const file = join(folder, 'gateway.tgz');
  await output(['backup', '-o', file, '--data', old]);
  const stats = await output(['stats', '--json', '--data', old]);
  running.process.kill('SIGKILL');
  await running.ended();

  const place = join(folder, 'data');
  const restored = await runCoordinator(['restore', file, '--data', place]);
  expect(restored).toMatchObject({ code: 0, stdout: '' });
  expect(restored.stderr).toContain(`Restored to ${place}`);
  const fresh = await startCoordinatorProcess(['--data', place]);
  const authorization = `Bearer ${key}`;
  const url = `${fresh.address}/api/inference/assets/${asset.id}/`;
  const answer = await fetch(url, { headers: { authorization } });
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: picture,
  });
  expect(await output(['stats', '--json', '--data', place])).toBe(stats);
  expect(JSON.parse(stats)).toMatchObject([{ requests: 1 }]);
  const check = await runCoordinator(['asset', 'verify', '--data', place]);
  expect(check.code).toBe(0);
  const again = await runCoordinator(['restore', file, '--yes', '--data', place]);
  expect(again.code).toBe(7);
}, 60_000);

test('verify tells what is in a whole backup', async () => {
  const { backUp } = await sample();
  const file = await backUp();
  const text = await runCoordinator(['restore', file, '--verify']);
  expect(text).toMatchObject({ code: 0, stdout: '' });
  expect(text.stderr).toMatch(/is whole: schema \d+, 3 assets of 700006 bytes, made 20/);
  expect(JSON.parse(await output(['restore', file, '--verify', '--json']))).toEqual({
    file,
    version: '1.2.3',
    schema_version: newestSchemaVersion(),
    created_at: expect.any(Number),
    database_bytes: expect.any(Number),
    assets: 3,
    asset_bytes: 700_006,
    deleted: 0,
    faults: [],
  });
});

test('verify lists what is wrong and exits 9', async () => {
  const { assets, backUp } = await sample();
  const id = assets[0]?.id ?? '';
  const file = await withoutAsset(backUp, id);
  const text = await runCoordinator(['restore', file, '--verify']);
  expect(text.code).toBe(9);
  expect(text.stdout.split('\n')[0]).toBe(
    `assets/${id.slice(0, 2)}/${id}\tmissing\t3 bytes that the database has a row of`,
  );
  expect(text.stderr).toContain('2 things missing');
  const json = await runCoordinator(['restore', file, '--verify', '--json']);
  expect(json.code).toBe(9);
  expect(JSON.parse(json.stdout)).toMatchObject({ faults: [{ fault: 'missing' }, {}] });
});

test('verify exits 9 for a backup that is cut off, 3 for none, 10 for a newer one', async () => {
  const { folder, dataDir, backUp } = await sample();
  const file = await backUp();
  await truncate(file, 100_000);
  const cut = await runCoordinator(['restore', file, '--verify']);
  expect(cut).toMatchObject({ code: 9, stdout: '' });
  expect(cut.stderr).toMatch(/^error: .*damaged.*\n$/);
  const missing = await runCoordinator(['restore', join(folder, 'none.tar'), '--verify']);
  expect(missing.code).toBe(3);
  const database = openDatabase(join(dataDir, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
  const newer = await backUp('newer.tar');
  for (const more of [['--verify'], ['--data', join(folder, 'data')]]) {
    expect((await runCoordinator(['restore', newer, ...more])).code).toBe(10);
  }
});

test('a full folder is refused without --yes, and moved aside with it', async () => {
  const { folder, backUp } = await sample();
  const [file, place] = [await backUp(), join(folder, 'restored', 'data')];
  const run = (...args: string[]) =>
    runCoordinator(['restore', file, '--data', place, '--json', ...args]);
  expect(JSON.parse((await run()).stdout)).toMatchObject({ restored: true, moved_to: null });
  const refused = await run();
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('--yes');
  const { code, stdout, stderr } = await run('--yes');
  expect(code).toBe(0);
  const moved = (JSON.parse(stdout) as { moved_to: string }).moved_to;
  expect(stderr).toContain(`What lay in ${place} is in ${moved} now.`);
  expect(await readdir(moved)).toContain('gateway.db');
});

test('what is missing keeps a backup from being restored, unless --partial is given', async () => {
  const { assets, folder, backUp } = await sample();
  const file = await withoutAsset(backUp, assets[0]?.id ?? '');
  const place = join(folder, 'restored');
  const refused = await runCoordinator(['restore', file, '--data', place]);
  expect(refused.code).toBe(9);
  expect(refused.stderr).toContain('--partial');
  await mkdir(place);
  expect(await readdir(place)).toEqual([]);
  const partial = await runCoordinator(['restore', file, '--partial', '--data', place]);
  expect(partial.code).toBe(0);
  const check = await runCoordinator(['asset', 'verify', '--data', place]);
  expect(check.code).toBe(9);
  expect(check.stderr).toContain('1 of 3');
});

function withoutAsset(backUp: Sample['backUp'], id: string): Promise<string> {
  return backUp().then((file) =>
    change(file, (entries) => entries.filter(({ path }) => !path.endsWith(id))),
  );
}

/** The output of a command that must succeed. */
async function output(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCoordinator(args);
  if (code !== 0) throw new Error(`"${args.join(' ')}" exited ${code}: ${stderr}`);
  return stdout.trimEnd();
}
