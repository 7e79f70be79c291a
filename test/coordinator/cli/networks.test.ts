import type { Member, Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { createMember, created } from '../../store/store-rows.js';
import { adminOnStore } from '../operations/admin-on-store.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE } from './jobs-in-store.js';
import { addProvider } from './providers-in-store.js';

interface Work {
  /** Anna's provider, shared with the network. */
  readonly provider: Provider;
  readonly ben: Member;
  readonly networkId: string;
  readonly shareId: string;
}

/** Anna owns the network `work`, and Ben is in it. */
async function fill(store: Store): Promise<Work> {
  const provider = await addProvider(store, 'anna', { name: 'den-pc' });
  const ben = await createMember(store, 'ben');
  const network = { name: 'work', ownerId: provider.ownerId };
  const { id: networkId } = created(await store.createNetwork(network, Date.now()));
  await store.joinNetwork(networkId, ben.id, Date.now());
  const audience = { kind: 'network', id: networkId } as const;
  const subject = { serviceId: null, model: 'm' };
  const caps = { slots: 2, hours: null, maxTokens: null };
  const row = { providerId: provider.id, subject, audience, caps };
  const share = created(await store.putShare(row, Date.now()));
  return { provider, ben, networkId, shareId: share.id };
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('networks are made, joined and shown', async () => {
    const folder = await dataFolder();
    const { provider, ben, networkId, shareId } = await prepare(folder, fill);
    const made = await folder.alone('network create friends --owner ben@example.org');
    const id = made.stdout.trimEnd();
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9A-Z]{26}\n$/) });
    expect(await folder.run('network add friends ANNA')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'anna is in friends.\n',
    });
    const at = expect.any(Number);
    expect(await folder.json('network list')).toEqual([
      { id: networkId, name: 'work', owner: 'anna', members: 2, shares: 1, created_at: at },
      { id, name: 'friends', owner: 'ben', members: 2, shares: 0, created_at: at },
    ]);
    expect(await folder.json(`network show ${networkId}`)).toEqual({
      id: networkId,
      name: 'work',
      owner: 'anna',
      created_at: at,
      members: [
        { id: provider.ownerId, name: 'anna', joined_at: at },
        { id: ben.id, name: 'ben', joined_at: at },
      ],
      shares: [
        {
          id: shareId,
          provider: 'anna/den-pc',
          service_id: null,
          model: 'm',
          network: 'work',
          member: null,
          slots: 2,
          hours: null,
          max_tokens: null,
          day: null,
          month: null,
          created_at: at,
        },
      ],
    });
    const shown = await folder.output('network show Work');
    expect(shown).toMatch(/^members +anna, ben$/m);
    expect(shown).toMatch(
      new RegExp(`^  ${shareId} +model m +anna/den-pc +the network work +2 slots$`, 'm'),
    );
  });

  test('networks are left, renamed and deleted, and it is written down who did it', async () => {
    const folder = await dataFolder();
    const { networkId } = await prepare(folder, fill);
    expect((await folder.run('network remove work ben')).stderr).toMatch(/^ben is out of work/);
    expect((await folder.run('network rename work Family')).code).toBe(0);
    expect(await folder.output('network list')).toBe(`${networkId}\tFamily\tanna\t1\t1`);
    expect(await folder.alone('network delete family --yes')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Family is deleted. Shares that ended with it: 1.\n',
    });
    expect(await folder.json('network list')).toEqual([]);
    const entries = (await folder.json('audit list')) as { action: string; actor: string }[];
    const [deleted, renamed, removed] = entries;
    expect([removed, renamed, deleted].map((entry) => entry?.action)).toEqual([
      'network.remove',
      'network.rename',
      'network.delete',
    ]);
    for (const entry of [removed, renamed, deleted]) expect(entry?.actor).toMatch(/^cli:./);
  });

  test('what cannot be done says why, and exits with its code', async () => {
    const folder = await dataFolder();
    await prepare(folder, fill);
    await expectFailures(folder, [
      ['network show worg', 3, 'Did you mean work?'],
      ['network add work ben', 7, 'ben is in work already'],
      ['network create a/b --owner ben', 2, 'a name has 1 to 64 characters'],
      ['network delete work', 2, 'add --yes'],
    ]);
    expect(await folder.json('network list')).toMatchObject([{ name: 'work', members: 2 }]);
  });
});

test('each operation is refused for its own reasons', async () => {
  const { store, refusal } = await adminOnStore();
  const { ben } = await fill(store);
  await createMember(store, 'carl');
  await store.createNetwork({ name: 'friends', ownerId: ben.id }, 1);
  for (const [command, args, reason] of [
    ['network.create', { name: 'WORK', owner: 'ben' }, "7: a network 'WORK' exists already"],
    ['network.create', { name: 'club', owner: 'nobody' }, "3: no member is called 'nobody'"],
    ['network.add', { network: 'work', member: 'nobody' }, "3: no member is called 'nobody'"],
    ['network.remove', { network: 'work', member: 'carl' }, '7: carl is not in work.'],
    ['network.remove', { network: 'work', member: 'anna' }, '"network delete work --yes" ends'],
    ['network.rename', { network: 'work', name: 'friends' }, "7: a network 'friends' exists"],
    ['network.rename', { network: 'work', name: ' x' }, '2: name: a name has 1 to 64'],
    ['network.delete', { network: 'club' }, "3: no network is called 'club'"],
  ] as const) {
    expect(await refusal(command, args)).toContain(reason);
  }
});
