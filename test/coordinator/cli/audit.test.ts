import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE, claim, fail, fillWithJobs, prepareStopped, submitBatch } from './jobs-in-store.js';
import { fillWithPeople } from './people-in-store.js';
import { serveAdminOn } from './running-admin.js';

const ME = `cli:${userInfo().username}`;

interface Entry {
  readonly action: string;
  readonly actor: string;
  readonly subject: { readonly kind: string; readonly id: string; readonly name: string };
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('what commands change is told with who, what, before and after', async () => {
    const folder = await dataFolder();
    const { anna } = await prepare(folder, fillWithPeople);
    expect(await folder.alone('user role anna admin')).toMatchObject({ code: 0, stdout: '' });
    await folder.output('limit set anna --requests 600');
    await folder.output('key rename anna/laptop desktop');
    const entries = (await folder.json('audit list --limit 3')) as Entry[];
    const annas = { kind: 'user', id: anna.id };
    expect(entries).toMatchObject([
      { actor: ME, action: 'key.rename', before: { name: 'laptop' }, after: { name: 'desktop' } },
      { actor: ME, action: 'limit.set', subject: annas, after: { requests: 600 } },
      {
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        at: expect.any(Number),
        actor: ME,
        action: 'user.role',
        subject: { ...annas, name: 'anna@example.org' },
        before: { role: 'member' },
        after: { role: 'admin' },
      },
    ]);
    const line = (await folder.output('audit list --action user.role')).split('\t');
    expect(line.slice(1)).toEqual([
      ME,
      'user.role',
      'user anna@example.org',
      'role: member → admin',
    ]);
    const ofAnna = (await folder.json(`audit list --subject ${anna.id} --actor ${ME}`)) as Entry[];
    expect(ofAnna.map(({ action }) => action)).toEqual(['limit.set', 'user.role']);
  });

  test('what is done to jobs and batches is told, and what is refused is not', async () => {
    const folder = await dataFolder();
    const { jobs, batch } = await prepare(folder, async (store) => {
      const jobs = await fillWithJobs(store);
      return { jobs, batch: await submitBatch(store, jobs.anna, { label: 'night', count: 2 }) };
    });
    await folder.output(`job cancel ${jobs.running.id}`);
    await folder.output(`job retry ${jobs.failed.id}`);
    await folder.output(`batch cancel ${batch.id}`);
    expect((await folder.alone(`job cancel ${jobs.processed.id}`)).code).toBe(7);
    expect(await folder.json('audit list --limit 3')).toMatchObject([
      {
        actor: ME,
        action: 'batch.cancel',
        subject: { kind: 'batch', id: batch.id, name: 'night' },
        after: { canceled: 2 },
      },
      {
        actor: ME,
        action: 'job.retry',
        subject: subjectOf(jobs.failed),
        after: { status: 'QUEUED' },
      },
      {
        actor: ME,
        action: 'job.cancel',
        subject: subjectOf(jobs.running),
        before: { status: 'PROCESSING' },
        after: { status: 'CANCELED' },
      },
    ]);
  });

  test('what is done to the queue and to files is told, where it changes something', async () => {
    const folder = await dataFolder();
    await prepare(folder, async (store) => {
      const { queued, provider } = await fillWithJobs(store);
      await fail(store, await claim(store, queued, provider), true);
    });
    await folder.output('queue requeue-stuck');
    await folder.output('queue requeue-stuck');
    await folder.output('queue pause');
    await folder.output('prune --dry-run');
    await folder.output('prune --yes');
    expect(await folder.json('audit list --limit 3')).toMatchObject([
      { actor: ME, action: 'asset.prune', subject: { kind: 'assets' }, before: null },
      { actor: ME, action: 'queue.pause', subject: { kind: 'queue' }, after: { paused: true } },
      { actor: ME, action: 'queue.requeue', subject: { kind: 'queue' }, after: { requeued: 1 } },
    ]);
  });
});

test('no secret is in the log or in a list', async () => {
  const folder = await dataFolder();
  await fillWithPeople((await serveAdminOn(folder.path)).store);
  const secrets = [
    await folder.output('key create --user anna --name phone'),
    await folder.output('key rotate anna/phone'),
    await folder.output('token create --owner anna'),
    (await folder.output('user invite --email cleo@example.org')).replace(/^.*#/, ''),
  ];
  const password = 'correct horse battery';
  await folder.output('user password anna --password-file -', { input: password });
  const lists = ['audit list', 'key list', 'token list', 'user invites'];
  const printed = (await Promise.all(lists.map((list) => folder.output(`${list} --json`)))).join();
  for (const action of ['key.rotate', 'token.create', 'invite.create', 'user.password']) {
    expect(printed).toContain(action);
  }
  for (const secret of secrets) {
    expect(secret).toMatch(/^gw[kji]_/);
    expect(printed).not.toContain(secret.slice(12));
    expect(printed).not.toContain(sha256(secret));
  }
  expect(printed).not.toContain(password);
  expect(printed).not.toContain('scrypt');
});

test('the log is asked for a time, a kind, somebody, something, and so many', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fillWithPeople);
  await folder.output('user disable ben');
  const actions = async (options: string): Promise<string[]> =>
    ((await folder.json(`audit list ${options}`)) as Entry[]).map(({ action }) => action);
  expect(await actions('--action key')).toEqual(['key.revoke', 'key.create', 'key.create']);
  expect(await actions('--action key.create')).toEqual(['key.create', 'key.create']);
  expect(await actions('--since 1m --limit 1')).toEqual(['user.disable']);
  expect(await actions('--actor cli:nobody')).toEqual([]);
  expect(await actions(`--actor ${ME}`)).toEqual(['user.disable']);
});

test('what can be no limit, time or action is a usage error', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fillWithPeople);
  await expectFailures(folder, [
    ['audit list --limit 0', 2, '--limit'],
    ['audit list --since yesterday', 2, '--since'],
    ['audit list --action key/create', 2, 'an action is a noun, or noun.verb'],
  ]);
});

function subjectOf({ id }: { readonly id: string }): Entry['subject'] {
  return { kind: 'job', id, name: id };
}
