import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

const WHERE = [
  ['without a coordinator', async () => {}],
  ['beside a running one', async ({ path }: DataFolder) => void (await serveAdminOn(path))],
] as const;

describe.each(WHERE)('%s', (_, prepare) => {
  test('limits are set one by one, shown, and cleared together', async () => {
    const folder = await dataFolder();
    await prepare(folder);
    const id = await folder.output('user create --email anna@example.org --name Anna');
    await folder.output('user create --email ben@example.org --name Ben');
    const run = await folder.run('limit set anna --requests 600');
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toBe('Anna: 600 requests a window, default at once.\n');
    await folder.output('limit set ANNA@example.org --concurrent 4');
    expect(await folder.json('limit show')).toEqual([
      { id, name: 'Anna', requests: 600, concurrent: 4 },
      { id: expect.any(String), name: 'Ben', requests: null, concurrent: null },
    ]);
    expect(await folder.output('limit show Anna')).toBe(`${id}\tAnna\t600\t4`);
    await folder.output(`limit clear ${id}`);
    const cleared = { id, name: 'Anna', requests: null, concurrent: null };
    expect(await folder.json('limit show anna')).toEqual([cleared]);
    expect(await folder.output('limit show anna')).toBe(`${id}\tAnna\tdefault\tdefault`);
  });
});

test.each([
  ['limit set anna', 'limits: name at least one: --requests or --concurrent'],
  ['limit set anna --requests 0', '--requests'],
  ['limit set anna --requests 1.5', '--requests'],
  ['limit set anna --requests many', '--requests'],
  ['limit set anna --requests 1000001', 'a limit is a whole number from 1 to 1000000'],
  ['limit set anna --concurrent -1', '--concurrent'],
  ['limit set anna --concurrent 100001', 'a limit is a whole number from 1 to 100000'],
  ['limit set --requests 5', "missing required argument 'member'"],
  ['limit clear', "missing required argument 'member'"],
])('%s is a usage error and changes nothing', async (command, named) => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const { code, stdout, stderr } = await folder.run(command);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(named);
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
  for (const command of ['limit set ana --requests 5', 'limit show ana', 'limit clear ana']) {
    const { code, stderr } = await folder.run(command);
    expect(code).toBe(3);
    expect(stderr).toContain('Did you mean anna');
  }
});
