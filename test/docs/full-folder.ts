/** A data folder with a little of everything that commands print. */
import type { Store } from '@inference-gateway/coordinator/store/port';
import {
  HOST,
  SERVICE,
  createJoinToken,
  createKey,
  created,
  newAsset,
  sha256,
  usageRow,
  serve,
} from '../store/store-rows.js';
import {
  claim,
  fail,
  fillWithJobs,
  finish,
  submit,
  submitBatch,
  submitFileBatch,
  LINK,
} from '../coordinator/cli/jobs-in-store.js';
import { addProvider } from '../coordinator/cli/providers-in-store.js';

/** What commands are asked about by their ids. */
const QUOTA = { requests: 1, tokens: 2, images: 3, audio_s: 4 };

export interface Full {
  readonly jobs: readonly string[];
  readonly batch: string;
  /** Read from a file. */
  readonly fileBatch: string;
  /** Anna's `den-pc`. */
  readonly provider: string;
}

export async function fillWithEverything(store: Store): Promise<Full> {
  const jobs = await fillWithJobs(store);
  const { anna, ben, failed } = jobs;
  const stuck = await submit(store, anna);
  await fail(store, await claim(store, stuck, jobs.provider), true);
  await spoil(store, await claim(store, await submit(store, anna), jobs.provider), false);
  const odd = await submit(store, anna);
  await spoil(store, await claim(store, odd, jobs.provider), true);
  const spoken = await submit(store, anna, { endpoint: 'speech', model: 'kokoro' });
  const sound = { ...newAsset(anna.id), providerId: jobs.provider.id, seconds: 1.5 };
  await finish(store, await claim(store, spoken, jobs.provider), { assets: [sound] });
  await fillAliases(store, anna.id);
  const self = { url: 'wss://10.0.0.2:7071', version: '0.1.0', agents: 1, isNew: true };
  await store.reportNode(self, new Uint8Array(32), Date.now());
  const meant = await submit(store, anna, { alias: 'fast' });
  await fail(store, await claim(store, meant, jobs.provider), false);
  await serve(store, jobs.provider.id, { now: Date.now() });
  const provider = await fillProvider(store);
  await fillAccounts(store, { anna: anna.id, ben: ben.id, provider });
  const batch = await submitBatch(store, anna, { label: 'night', count: 2 });
  await submitBatch(store, anna, { label: null, count: 1 });
  const fileBatch = await submitFileBatch(store, anna);
  const usage = { providerId: jobs.provider.id, memberId: anna.id, promptTokens: 3 };
  store.recordUsage([
    { ...usageRow(1), ...usage },
    { ...usageRow(2), memberId: 'gone' },
    { ...usageRow(3), ...usage, at: Date.now(), firstByteMs: 5 },
  ]);
  await store.recordAudit({
    action: 'provider.kick',
    subject: { kind: 'provider', id: provider, name: 'anna/den-pc' },
    before: null,
    after: null,
  });
  const asked = [
    jobs.processed,
    failed,
    jobs.canceled,
    jobs.running,
    jobs.queued,
    stuck,
    odd,
    meant,
  ];
  return {
    jobs: [...asked.map(({ id }) => id), ...batch.jobs],
    batch: batch.id,
    fileBatch,
    provider,
  };
}

/** One of Anna's, and one of the gateway. */
async function fillAliases(store: Store, anna: string): Promise<void> {
  const now = Date.now();
  await store.setAlias({ memberId: anna, name: 'fast', models: ['tiny'], cap: 9 }, now);
  await store.setAlias({ memberId: null, name: 'claude-*', models: ['tiny', 'm'], cap: 9 }, now);
}

/** Ends a run whose request was wrong. */
async function spoil(store: Store, claimId: string, retryable: boolean): Promise<void> {
  const type = 'invalid_request_error';
  const error = { message: 'Not so.', type, code: 'provider_rejected', param: 'stop' } as const;
  const failure = { claimId, linkId: LINK, retryable, error, random: 1 };
  await store.failJob(failure, Date.now());
}

/** With all that is optional, shared in every way. */
async function fillProvider(store: Store): Promise<string> {
  const { id, ownerId } = await addProvider(store, 'anna', { name: 'den-pc' });
  const [model] = SERVICE.models;
  if (model === undefined) throw new Error('the service has no model');
  const voiced = { ...model, id: 'kokoro', voices: ['a'], formats: ['wav'], loaded: true };
  const extra = { service_id: 'tts-1', slot_group: 'gpu0', foreign: false, models: [voiced] };
  const gpu = { name: 'RTX', vendor: 'NVIDIA', vram_mib: 1, driver: '1' };
  const host = { ...HOST, gpus: [gpu, { name: null, vendor: null, vram_mib: null, driver: null }] };
  const services = [SERVICE, { ...SERVICE, ...extra, service_type: 'tts' as const }];
  await serve(store, id, { services, host, now: Date.now() });
  const now = Date.now();
  const friends = created(await store.createNetwork({ name: 'friends', ownerId }, now));
  const ben = await store.findMember('ben');
  const hours = { from: 0, until: 1_439, timeZone: 'UTC' };
  const none = { slots: null, hours: null, maxTokens: null };
  const toFriends = { kind: 'network', id: friends.id } as const;
  const toBen = { kind: 'member', id: ben?.id ?? '' } as const;
  const put = (share: Pick<Parameters<Store['putShare']>[0], 'subject' | 'audience' | 'caps'>) =>
    store.putShare({ providerId: id, ...share }, now);
  const caps = { slots: 1, hours, maxTokens: 500, quota: { day: QUOTA, month: QUOTA } };
  await put({ subject: { serviceId: 'llm-1', model: null }, audience: toFriends, caps: none });
  await put({ subject: { serviceId: null, model: 'kokoro' }, audience: toFriends, caps });
  await put({ subject: { serviceId: null, model: 'llama-3.1-8b' }, audience: toBen, caps });
  return id;
}

interface Ids {
  readonly anna: string;
  readonly ben: string;
  readonly provider: string;
}

async function fillAccounts(store: Store, { anna, ben, provider }: Ids): Promise<void> {
  const now = Date.now();
  await store.blockMember({ ownerId: ben, memberId: anna }, now);
  await store.setMemberLimits(anna, { requests: 5, concurrent: 6, day: QUOTA, month: QUOTA });
  await fillKeys(store, anna);
  await createJoinToken(store, { ownerId: anna, name: 'attic', replaces: provider, now });
  const revoked = await createJoinToken(store, { ownerId: anna, now });
  await store.revokeJoinToken(revoked.joinToken.id, now);
  const networkId = (await store.listNetworks())[0]?.id ?? null;
  const invite = { role: 'member', networkId, expiresAt: now + 1_000_000 } as const;
  const one = { ...invite, email: 'dora@example.org', hash: sha256('one') };
  await store.createInvite(one, now);
  await store.createInvite({ ...one, email: 'eve@example.org', hash: sha256('two') }, now);
  const kept = created(
    await store.createInvite({ ...one, networkId: null, hash: sha256('three') }, now),
  );
  await store.revokeInvite(kept.id, now);
  const chosen = { name: 'eve', passwordHash: '$scrypt$x' };
  await store.acceptInvite({ hash: sha256('two'), ...chosen }, now);
  const session = {
    memberId: anna,
    address: '203.0.113.7',
    userAgent: 'Firefox',
    passwordHash: null,
  };
  await store.createSession({ ...session, hash: sha256('s'), expiresAt: now + 1_000_000 }, now);
  await fillLogInMethods(store, anna);
  await store.createDevice(
    {
      deviceHash: sha256('d'),
      userCode: 'BCDF-GHJK',
      name: 'den-pc',
      host: 'tower',
      address: '203.0.113.7',
      expiresAt: now + 1_000_000,
    },
    now,
  );
  await store.changeMember((await store.findMember('eve'))?.id ?? '', { disabled: true }, now);
}

async function fillLogInMethods(store: Store, anna: string): Promise<void> {
  const now = Date.now();
  const expiresAt = now + 1_000_000;
  const spent = (of: string) => ({ hash: sha256(of), expiresAt });
  const credential = { credentialId: 'YQ', publicKey: new Uint8Array([1]), counter: 1 };
  const passkey = { ...credential, name: 'phone', transports: ['internal'], memberId: anna };
  await store.addPasskey({ ...passkey, cap: 20, spent: spent('p') }, now);
  const account = { issuer: 'https://id.example.org', subject: 'a', email: 'anna@example.org' };
  await store.connectOidc({ ...account, memberId: anna, spent: spent('o') }, now);
  await store.createPasswordReset({ hash: sha256('r'), memberId: anna, expiresAt }, now);
}

async function fillKeys(store: Store, anna: string): Promise<void> {
  const now = Date.now();
  const { key } = await createKey(store, anna, {
    name: 'laptop',
    assets: 'link',
    rules: { models: ['tiny'], endpoints: ['/v1/embeddings'], day: QUOTA, month: QUOTA },
    expiresAt: now + 1_000_000,
  });
  const rotation = { prefix: 'gwk_00000001', hash: sha256('n'), previousUntil: now + 1_000_000 };
  await store.rotateKey(key.id, rotation, now);
  await store.touchKeys([key.id], now);
  const off = await createKey(store, anna, { name: 'off' });
  await store.setKeyState(off.key.id, 'disabled', now);
  const gone = await createKey(store, anna, { name: 'gone', scope: 'own', assets: 'private' });
  await store.setKeyState(gone.key.id, 'revoked', now);
}
