import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { createMember, created } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE, prepareStopped } from './jobs-in-store.js';
import { addProvider } from './providers-in-store.js';

interface Machine {
  readonly provider: Provider;
  /** The share of the whole provider with Anna's friends. */
  readonly shareId: string;
}

/** Anna has a machine and the network `friends`; Carl is in no network. */
async function fill(store: Store): Promise<Machine> {
  const provider = await addProvider(store, 'anna', { name: 'den-pc' });
  await createMember(store, 'carl');
  const network = { name: 'friends', ownerId: provider.ownerId };
  const audience = {
    kind: 'network',
    id: created(await store.createNetwork(network, 1)).id,
  } as const;
  const subject = { serviceId: null, model: null };
  const caps = { slots: null, hours: null, maxTokens: null };
  const row = { providerId: provider.id, subject, audience, caps };
  const share = created(await store.putShare(row, 2));
  return { provider, shareId: share.id };
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('a model is shared, shown, and no longer shared', async () => {
    const folder = await dataFolder();
    const { shareId: all } = await prepare(folder, fill);
    const run = await folder.run(
      'provider share den-pc --model llama-3.1-8b --network friends --slots 2 ' +
        '--hours 22:00-07:00 --time-zone Europe/Berlin --max-tokens 500',
    );
    const model = run.stdout.trimEnd();
    expect(run).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^[0-9A-Z]{26}\n$/),
      stderr:
        'Shared: model llama-3.1-8b of anna/den-pc with the network friends ' +
        '(2 slots, 500 tokens, 22:00-07:00 Europe/Berlin).\n',
    });
    // Sharing again changes the caps of the existing share.
    const again = 'provider share anna/den-pc --model llama-3.1-8b --network friends --slots 3';
    expect(await folder.output(again)).toBe(model);
    const service = await folder.output('provider share den-pc --service llm-1 --user carl');
    expect(await folder.json('provider show den-pc')).toMatchObject({
      shares: [
        { id: all, model: null, service_id: null, slots: null, hours: null, max_tokens: null },
        { id: model, model: 'llama-3.1-8b', network: 'friends', member: null, slots: 3 },
        { id: service, service_id: 'llm-1', model: null, network: null, member: 'carl' },
      ],
    });
    const ended = await folder.alone('provider unshare den-pc --network friends');
    expect(ended).toMatchObject({ code: 0, stdout: `${all}\n${model}\n` });
    expect(ended.stderr).toContain(
      'No longer shared: all of anna/den-pc with the network friends.',
    );
    expect(ended.stderr).toContain(`Still shared: ${service}: service llm-1 of anna/den-pc with`);
    expect(await folder.output(`provider unshare den-pc --share ${service}`)).toBe(service);
    expect(await folder.json('provider show den-pc')).toMatchObject({ shares: [] });
  });

  test('a member is blocked and unblocked', async () => {
    const folder = await dataFolder();
    const { shareId } = await prepare(folder, fill);
    const blocked = await folder.run('provider block carl --owner anna@example.org');
    expect(blocked).toMatchObject({ code: 0, stdout: '' });
    const shown = await folder.output('provider show den-pc');
    expect(shown).toMatch(/^blocked +carl$/m);
    expect(shown).toMatch(new RegExp(`^  ${shareId} +all +anna/den-pc +the network friends`, 'm'));
    expect((await folder.run('provider unblock carl --owner anna')).code).toBe(0);
    expect(await folder.json('provider show den-pc')).toMatchObject({ blocked: [] });
  });

  test('what cannot be done says why, and exits with its code', async () => {
    const folder = await dataFolder();
    await prepare(folder, fill);
    await expectFailures(folder, [
      ['provider share den-pc', 2, 'say with whom: --network or --user'],
      ['provider share den-pc --network frends', 3, 'Did you mean friends?'],
      ['provider unshare den-pc --model m', 3, '"provider show anna/den-pc" shows its shares (1)'],
      ['provider unblock carl --owner anna', 7, 'anna does not block carl'],
    ]);
  });
});

test('what a machine does not serve is shared all the same, with a warning', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fill);
  const run = await folder.alone('provider share den-pc --model llama-3.1-8 --user carl');
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9A-Z]{26}\n$/) });
  expect(run.stderr).toContain("warning: anna/den-pc serves no model 'llama-3.1-8' as yet");
});

test('hours without a zone are those of the machine on which they are typed', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fill);
  const share = 'provider share den-pc --network friends --hours 22:00-07:00';
  const { stderr } = await folder.run(share, { env: { TZ: 'Asia/Kolkata' } });
  expect(stderr).toMatch(/\(22:00-07:00 Asia\/(Kolkata|Calcutta)\)/);
});
