import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { serveAdminOn } from './running-admin.js';

const WHERE = [
  ['without a coordinator', async () => {}],
  ['beside a running one', async ({ path }: DataFolder) => void (await serveAdminOn(path))],
] as const;

const NO_LIMITS = { requests: null, tokens: null, images: null, audio_s: null };
const NO_QUOTA = { day: NO_LIMITS, month: NO_LIMITS };

describe.each(WHERE)('%s', (_, prepare) => {
  test('limits are set one by one, shown, and cleared together', async () => {
    const folder = await dataFolder();
    await prepare(folder);
    const id = await folder.output('user create --email anna@example.org --name Anna');
    await folder.output('user create --email ben@example.org --name Ben');
    const run = await folder.alone('limit set anna --requests 600');
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toBe('Anna: 600 requests a window, default at once.\n');
    await folder.output('limit set ANNA@example.org --concurrent 4');
    expect(await folder.json('limit show')).toEqual([
      { id, name: 'Anna', requests: 600, concurrent: 4, ...NO_QUOTA },
      { id: expect.any(String), name: 'Ben', requests: null, concurrent: null, ...NO_QUOTA },
    ]);
    expect(await folder.output('limit show Anna')).toBe(`${id}\tAnna\t600\t4\t-\t-`);
    await folder.output(`limit clear ${id}`);
    const cleared = { id, name: 'Anna', requests: null, concurrent: null, ...NO_QUOTA };
    expect(await folder.json('limit show anna')).toEqual([cleared]);
    const line = `${id}\tAnna\tdefault\tdefault\t-\t-`;
    expect(await folder.output('limit show anna')).toBe(line);
  });

  test('limits of a day and a month are set, shown, and cleared with the others', async () => {
    const folder = await dataFolder();
    await prepare(folder);
    await folder.output('user create --email anna@example.org --name Anna');
    const run = await folder.alone('limit set anna --day requests=5,audio_s=0 --month tokens=900');
    expect(run.stderr).toBe(
      'Anna: default requests a window, default at once; ' +
        'requests 5, audio_s 0 a day; tokens 900 a month.\n',
    );
    await folder.output('limit set anna --day images=2');
    const day = { ...NO_LIMITS, images: 2 };
    const month = { ...NO_LIMITS, tokens: 900 };
    expect(await folder.json('limit show anna')).toMatchObject([{ day, month }]);
    expect(await folder.json('user show anna')).toMatchObject({
      limits: { day, month },
      used: { day: { requests: 0, tokens: 0, images: 0, audio_s: 0 } },
    });
    await folder.output('limit set anna --month none');
    expect(await folder.json('limit show anna')).toMatchObject([{ day, month: NO_LIMITS }]);
    await folder.output('limit clear anna');
    expect(await folder.json('limit show anna')).toMatchObject([NO_QUOTA]);
  });

  test('one limit is exchanged for another in one change, which is written down once', async () => {
    const folder = await dataFolder();
    await prepare(folder);
    await folder.output('user create --email anna@example.org --name Anna');
    await folder.output('limit set anna --requests 7');
    await folder.output('limit set anna --requests default --concurrent 2');
    expect(await folder.json('limit show anna')).toMatchObject([{ requests: null, concurrent: 2 }]);
    expect(await folder.json('audit list --action limit.set')).toMatchObject([
      { before: { requests: 7, concurrent: null }, after: { requests: null, concurrent: 2 } },
      { before: { requests: null }, after: { requests: 7 } },
    ]);
  });
});

test('what can be no limit is a usage error and changes nothing', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  await expectFailures(folder, [
    ['limit set anna --requests 0', 2, '--requests'],
    ['limit set anna --requests 1.5', 2, '--requests'],
    ['limit set anna --requests many', 2, '--requests'],
    ['limit set anna --day tokens', 2, 'audio_s=N'],
    ['limit set anna --day cats=4', 2, 'requests=N'],
    ['limit set anna --month images=1000000000001', 2, 'from 0 to 1000000000000'],
    ['limit set anna --concurrent -1', 2, '--concurrent'],
    ['limit set anna --concurrent 100001', 2, 'a limit is a whole number from 1 to 100000'],
  ]);
  const { code, stdout } = await folder.alone('limit set anna --requests 1000001');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(await folder.json('limit show')).toMatchObject([{ requests: null, concurrent: null }]);
});

test('the largest limits are allowed', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  await folder.output('limit set anna --requests 1000000 --concurrent 100000');
  expect(await folder.json('limit show anna')).toMatchObject([
    { requests: 1_000_000, concurrent: 100_000 },
  ]);
});

test('an unknown member exits 3, with what was probably meant', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  await expectFailures(folder, [
    ['limit set ana --requests 5', 3, 'Did you mean anna'],
    ['limit show ana', 3, 'Did you mean anna'],
    ['limit clear ana', 3, 'Did you mean anna'],
  ]);
});
