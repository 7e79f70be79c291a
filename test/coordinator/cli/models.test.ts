import { formatDayHours } from '@inference-gateway/shared/day-hours';
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { SERVICE, createMember, serve } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE, prepareStopped } from './jobs-in-store.js';
import { addProvider, online } from './providers-in-store.js';
import { serveAdminOn } from './running-admin.js';

interface Machines {
  /** Anna's; Ben may use its one model at all hours, with at most 500 tokens an answer. */
  readonly den: Provider;
  /** Ben's own provider. */
  readonly attic: Provider;
}

const [MODEL] = SERVICE.models;
const SPEECH = { ...SERVICE, service_id: 'tts-1', service_type: 'tts' as const };

/** All but a minute in half a day from now: no hours have every minute. */
const CLOSED = (Math.floor(Date.now() / 60_000) + 720) % 1_440;
const HOURS = { from: (CLOSED + 1) % 1_440, until: CLOSED, timeZone: 'UTC' };

async function fill(store: Store): Promise<Machines> {
  const den = await addProvider(store, 'anna', { name: 'den-pc' });
  const attic = await addProvider(store, 'ben', { name: 'attic-pc' });
  await createMember(store, 'carl');
  const services = MODEL === undefined ? [] : [{ ...SPEECH, models: [{ ...MODEL, id: 'kokoro' }] }];
  await serve(store, attic.id, { services, now: Date.now() });
  const audience = { kind: 'member', id: attic.ownerId } as const;
  const hours = HOURS;
  const caps = { slots: null, maxTokens: 500, hours };
  const subject = { serviceId: null, model: 'llama-3.1-8b' };
  await store.putShare({ providerId: den.id, subject, audience, caps }, Date.now());
  return { den, attic };
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('all models are listed with who has them, and unknown members exit 3', async () => {
    const folder = await dataFolder();
    const { den } = await prepare(folder, fill);
    const rows = await folder.json('model list');
    expect(rows).toMatchObject([{ id: 'kokoro' }, { id: 'llama-3.1-8b' }]);
    expect((rows as unknown[])[1]).toEqual({
      id: 'llama-3.1-8b',
      service_type: 'llm',
      service_id: 'llm-1',
      owner: 'anna',
      provider: 'den-pc',
      provider_id: den.id,
      online: false,
      slots: 2,
      busy: 0,
      tokens_per_second: null,
      own: null,
      share_id: null,
      max_tokens: null,
      hours: null,
    });
    const kokoro = ['kokoro', 'tts', 'ben', 'attic-pc', 'no', '-', '-', '-'].join('\t');
    expect((await folder.output('model list')).split('\n')[0]).toBe(kokoro);
    await expectFailures(folder, [
      ['model list --user car', 3, 'Did you mean carl@example.org, carl?'],
    ]);
  });
});

test('without a coordinator, a member is shown what they may use once it is online', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fill);
  const bens = await folder.json('model list --user ben');
  expect(bens).toMatchObject([
    { id: 'kokoro', own: true, share_id: null, online: false, max_tokens: null, hours: null },
    { id: 'llama-3.1-8b', own: false, share_id: expect.any(String), online: false },
  ]);
  const lines = (await folder.output('model list --user ben')).split('\n');
  expect(lines[1]).toMatch(
    /^llama-3\.1-8b\tllm\tanna\tden-pc\tno\t\w{26}\t500\t\d\d:\d\d-\d\d:\d\d UTC$/,
  );
  expect(lines[1]?.split('\t').at(-1)).toBe(formatDayHours(HOURS));
  expect(lines[0]).toMatch(/\tno\town\t-\t-$/);
  expect(await folder.json('model list --user anna')).toMatchObject([{ id: 'llama-3.1-8b' }]);
  expect(await folder.json('model list --user carl')).toEqual([]);
  await folder.output('provider block ben --owner anna');
  expect(await folder.json('model list --user ben')).toMatchObject([{ id: 'kokoro' }]);
  await folder.output('user disable ben');
  expect(await folder.json('model list --user ben')).toEqual([]);
});

test('beside a running one, a member is shown what GET /v1/models lists them now', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const { den } = await fill(store);
  expect(await folder.json('model list --user ben')).toEqual([]);
  links.online.set(den.id, online(den));
  const shared = [{ id: 'llama-3.1-8b', owner: 'anna', online: true, max_tokens: 500 }];
  expect(await folder.json('model list --user ben')).toMatchObject(shared);
  expect(await folder.json('model list')).toMatchObject([{ online: false }, { online: true }]);
  links.online.set(den.id, online(den, 'own'));
  expect(await folder.json('model list --user ben')).toEqual([]);
  expect(await folder.json('model list --user anna')).toMatchObject([{ own: true, online: true }]);
});
