import type { Store } from '@inference-gateway/coordinator/store/port';
import { newSecret } from '@inference-gateway/shared/ids';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { describe, expect, test } from 'vitest';
import { randomHex, sha256 } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE, prepareStopped } from './jobs-in-store.js';
import { fillWithPeople } from './people-in-store.js';

const CODE = 'BCDF-GHJK';
const MINUTE_MS = 60_000;

/** Anna and Ben, and two waiting machines: one with a name and a host, one without. */
async function fillWithDevices(store: Store): Promise<void> {
  await fillWithPeople(store);
  await ask(store, { userCode: CODE, name: 'attic-pc', host: 'tower' });
  await ask(store, { userCode: 'LMNP-QRST', name: null, host: null });
}

interface Asked {
  readonly userCode: string;
  readonly name: string | null;
  readonly host: string | null;
}

async function ask(store: Store, asked: Asked, now = Date.now()): Promise<void> {
  const rest = { deviceHash: sha256(randomHex()), address: '203.0.113.7' };
  await store.createDevice({ ...asked, ...rest, expiresAt: now + MINUTE_MS }, now);
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('what waits is listed with its code and where it asks from', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithDevices);
    const [first, second] = (await folder.json('device list')) as { created_at: number }[];
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      code: CODE,
      name: 'attic-pc',
      host: 'tower',
      address: '203.0.113.7',
      wrong_codes: 0,
      created_at: expect.any(Number),
      expires_at: (first?.created_at ?? 0) + MINUTE_MS,
    });
    expect(second).toMatchObject({ code: 'LMNP-QRST', name: null, host: null });
    const rows = (await folder.output('device list')).split('\n');
    expect(rows[0]?.split('\t').slice(0, 4)).toEqual([CODE, 'attic-pc', 'tower', '203.0.113.7']);
    expect(rows).toHaveLength(2);
  });

  test('approving shows which machine it is, and is done only with --yes', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithDevices);
    const shown = await folder.run('device approve bcdfghjk --owner anna');
    expect(shown).toMatchObject({ code: 2, stdout: '' });
    expect(shown.stderr).toContain('this makes attic-pc (host tower) at 203.0.113.7, which asked ');
    expect(shown.stderr).toMatch(/ \d+ s ago, a provider of anna: add --yes/);
    expect(await folder.json('device list')).toHaveLength(2);
    const done = await folder.alone('device approve bcdfghjk --owner anna --yes');
    expect(done).toMatchObject({ code: 0, stdout: '' });
    expect(done.stderr).toBe(
      'attic-pc (host tower) at 203.0.113.7 becomes a provider of anna as soon as it asks again.\n',
    );
    expect(await folder.json('device list')).toHaveLength(1);
    const entries = await folder.json('audit list --action device');
    const after = { host: 'tower', address: '203.0.113.7', owner: 'anna' };
    expect(entries).toMatchObject([{ action: 'device.approve', after }]);
    const again = await folder.run('device approve bcdfghjk --owner anna --yes');
    expect(again).toMatchObject({ code: 7, stdout: '' });
    expect(again.stderr).toContain(`the log-in ${CODE} is approved already`);
  });

  test('denying turns it away', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithDevices);
    const denied = await folder.run('device deny LMNP-QRST');
    expect(denied).toMatchObject({ code: 0, stdout: '' });
    expect(denied.stderr).toBe('a machine at 203.0.113.7 is turned away.\n');
    await expectFailures(folder, [
      ['device approve LMNPQRST --owner anna --yes', 7, 'is denied already'],
      ['device approve LMNPQRST --owner anna', 7, 'is denied already'],
      ['device deny LMNPQRST', 7, 'is denied already'],
    ]);
  });

  test('wrong codes are counted, and after the fifth the one who types has to wait', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithDevices);
    await expectFailures(folder, [
      ['device approve ZZZZ-ZZZZ --owner anna --yes', 3, left(4)],
      ['device approve ZZZZ-ZZZZ --owner anna', 3, left(3)],
      ['device deny ZZZZ-ZZZZ', 3, left(2)],
      // A text that cannot be a code does not count as a wrong code.
      ['device deny ABCD-EFGH', 2, "'ABCD-EFGH' is not a code"],
      ['device deny ZZZZ-ZZZZ', 3, left(1)],
      ['device deny ZZZZ-ZZZZ', 3, 'wait 15 minutes before the next one'],
      [`device approve ${CODE} --owner anna --yes`, 4, 'Try again in '],
      [`device deny ${CODE}`, 4, 'The machine waits on.'],
    ]);
    expect(await folder.json('device list')).toMatchObject([
      { wrong_codes: 5 },
      { wrong_codes: 5 },
    ]);
    const entries = await folder.json('audit list --action device.lockout');
    expect(entries).toMatchObject([{ after: { wrong_codes: 5, locked_out_s: 900 } }]);
  });
});

test('a machine of a name that its owner has is not let in', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, async (store) => {
    await fillWithPeople(store);
    await ask(store, { userCode: CODE, name: 'Den-PC', host: null });
  });
  const command = `device approve ${CODE} --owner`;
  await expectFailures(folder, [
    [`${command} anna --yes`, 7, 'anna has a provider of this name already'],
    [`${command} cleo --yes`, 3, "no member is called 'cleo'"],
    [`device approve ${CODE}`, 2, "required option '--owner <member>'"],
  ]);
  const ben = await folder.run(`${command} ben --yes`);
  expect(ben.stderr).toContain('Den-PC at 203.0.113.7 becomes a provider of ben');
});

test('nobody becomes the owner who is disabled', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fillWithDevices);
  await folder.output('user disable ben');
  const failure = [`device approve ${CODE} --owner ben --yes`, 7, 'ben is disabled'] as const;
  await expectFailures(folder, [failure]);
});

test('what has expired is told apart from what never was', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, async (store) => {
    const past = Date.now() - 2 * MINUTE_MS;
    await ask(store, { userCode: CODE, name: null, host: 'tower' }, past);
  });
  await folder.output('user create --email anna@example.org');
  const failure = [`device approve ${CODE} --owner anna`, 7, `${CODE} has expired`] as const;
  await expectFailures(folder, [failure]);
  expect(await folder.json('device list')).toEqual([]);
});

test("the machine's own secret is no code, and is not shown again", async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fillWithDevices);
  const secret = newSecret('gwd');
  const { code, stdout, stderr } = await folder.alone(`device deny ${secret}`);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain(secret.slice(4));
});

test('a device that collects its token later is the one that was approved', async () => {
  const folder = await dataFolder();
  const deviceHash = sha256('device');
  await prepareStopped(folder, async (store) => {
    await fillWithPeople(store);
    const asked = { userCode: CODE, name: null, host: 'tower', address: '203.0.113.7' };
    const now = Date.now();
    await store.createDevice({ ...asked, deviceHash, expiresAt: now + MINUTE_MS }, now);
  });
  await folder.output(`device approve ${CODE} --owner anna --yes`);
  const store = await openStore(folder.path);
  const agent = { deviceHash, tokenHash: sha256('agent'), approved: false };
  const made = await store.collectDevice(agent, Date.now());
  await store.close();
  expect(made).toMatchObject({ kind: 'created', value: { name: 'anna-pc', ownerName: 'anna' } });
  expect(made).not.toMatchObject({ value: { approvedAt: null } });
});

function left(tries: number): string {
  return `Wrong codes until you have to wait 15 minutes: ${tries}`;
}
