/** Fills a store through its operations, with rows in every table. */
import type { Store } from '@inference-gateway/coordinator/store/port';
import { newUserCode } from '@inference-gateway/shared/ids';
import {
  LINK_ID,
  claimJob,
  failJob,
  finishJob,
  newItem,
  newSubmission,
  ROOMY,
  submitBatch,
  submitJob,
} from '../store/job-rows.js';
import {
  NOW,
  createKey,
  createMember,
  createProvider,
  created,
  newAsset,
  newMember,
  randomHex,
  serve,
  sha256,
  usageRow,
} from '../store/store-rows.js';

const SPACE = { memberBytes: 10_000_000, totalBytes: 10_000_000 };
const HOUR_MS = 3_600_000;
const CHAT = '/v1/chat/completions';
const WEBHOOK = { url: 'https://example.org/hook', secret: 'whsec_c2VjcmV0' };

export async function fillStore(store: Store): Promise<void> {
  await store.startNode(NOW);
  await store.sharedSecret('asset links', new Uint8Array(32), NOW);
  const den = await createProvider(store);
  await serve(store, den.id);
  const ben = await createMember(store, 'ben');
  await shareWith(store, { providerId: den.id, ownerId: den.ownerId, memberId: ben.id });
  await letIn(store, ben.id);
  const { key } = await createKey(store, ben.id);
  await store.setMemberLimits(ben.id, { requests: 100, concurrent: 2 });
  await store.setAlias({ memberId: ben.id, name: 'fast', models: ['b', 'a'], cap: 9 }, NOW);
  const speech = newAsset(ben.id, { seconds: 1.25, keyId: key.id });
  await store.createAsset({ ...speech, excerpt: 'Hello there.' }, SPACE);
  await store.setExcerpts(ben.id, false);
  await submitAll(store, ben.id);
  await readFile(store, ben.id);
  const shareId = (await store.listShares(den.id))[0]?.id ?? null;
  const usage = Array.from({ length: 40 }, (_, index) => ({ ...usageRow(index), shareId }));
  store.recordUsage(usage);
  store.noteWanted({ memberId: ben.id, model: 'gpt-oss:20b' });
  await store.setQueuePaused(true);
  await addLogInMethods(store, ben.id);
  await store.beginLogIn([{ kind: 'account', key: 'ben' }]);
}

async function addLogInMethods(store: Store, memberId: string): Promise<void> {
  const expiresAt = NOW + HOUR_MS;
  const spent = (of: string) => ({ hash: sha256(of), expiresAt });
  const credential = { credentialId: 'YQ', publicKey: new Uint8Array([0, 255]), counter: 1 };
  const passkey = { ...credential, name: 'phone', transports: ['internal'], memberId };
  await store.addPasskey({ ...passkey, cap: 20, spent: spent('p') }, NOW);
  const account = { issuer: 'https://id.example.org', subject: 'a', email: null };
  await store.connectOidc({ ...account, memberId, spent: spent('o') }, NOW);
  await store.createPasswordReset({ hash: sha256('r'), memberId, expiresAt }, NOW);
}

interface Shared {
  readonly providerId: string;
  readonly ownerId: string;
  readonly memberId: string;
}

async function shareWith(store: Store, { providerId, ownerId, memberId }: Shared): Promise<void> {
  const home = created(await store.createNetwork({ name: 'home', ownerId }, NOW));
  await store.joinNetwork(home.id, memberId, NOW);
  const cleo = await createMember(store, 'cleo');
  const invitation = { networkId: home.id, memberId: cleo.id, invitedBy: ownerId };
  await store.inviteToNetwork(invitation, NOW);
  await store.blockMember({ ownerId, memberId: cleo.id }, NOW);
  const caps = {
    slots: 2,
    hours: { from: 60, until: 120, timeZone: 'Europe/Berlin' },
    maxTokens: 9,
  };
  const subject = { serviceId: null, model: 'llama-3.1-8b' };
  for (const audience of [
    { kind: 'network', id: home.id },
    { kind: 'member', id: memberId },
  ] as const) {
    await store.putShare({ providerId, subject, audience, caps }, NOW);
  }
}

/** A session, an invite, and machines that log in. */
async function letIn(store: Store, memberId: string): Promise<void> {
  const client = { address: '192.0.2.1', userAgent: 'Firefox' };
  const session = { hash: sha256(randomHex()), memberId, passwordHash: null, ...client };
  await store.createSession({ ...session, expiresAt: NOW + HOUR_MS }, NOW);
  const invite = { hash: sha256('invite'), email: 'dora@example.org', role: 'admin' } as const;
  created(await store.createInvite({ ...invite, networkId: null, expiresAt: NOW + 9 }, NOW));
  const joining = { hash: invite.hash, name: 'dora', passwordHash: '$scrypt$dora' };
  await store.acceptInvite(joining, NOW + 1);
  const told = { deviceHash: sha256('device'), name: 'attic', host: 'tower', ...client };
  const userCode = newUserCode();
  await store.createDevice({ ...told, userCode, expiresAt: NOW + HOUR_MS }, NOW);
  const guess = { userCode: 'ZZZZ-ZZZZ', address: client.address };
  await store.by(`member:${memberId}`).findDevice(guess, NOW + 1);
}

/** Jobs in all states, with requests of many bytes, results and files. */
async function submitAll(store: Store, memberId: string): Promise<void> {
  const item = { body: Buffer.from(Array.from({ length: 70_000 }, (_, byte) => byte & 255)) };
  const waiting = await submitJob(store, memberId, { item, idempotencyKey: 'once' });
  const named = { item: { excerpt: 'Draw a fox 🦊' } };
  const canceled = await submitJob(store, memberId, { webhook: WEBHOOK, ...named });
  await store.cancelJob(canceled.id, null, NOW + 3);
  await finishJob(store, (await submitJob(store, memberId)).id);
  const assets = [newAsset(memberId, { requestId: waiting.requestId })];
  await finishJob(store, (await submitJob(store, memberId)).id, { assets });
  await failJob(store, (await submitJob(store, memberId)).id);
  const held = await submitJob(store, memberId);
  const claimId = await claimJob(store, held.id);
  await store.acceptJob({ claimId, linkId: LINK_ID }, NOW + HOUR_MS, NOW + 2);
  const items = Array.from({ length: 900 }, () => newItem());
  await submitBatch(store, memberId, { items, label: 'ünïcödé 🎈', idempotencyKey: 'many' });
}

/** A batch of a file, with a line that became a job and one that was refused. */
async function readFile(store: Store, memberId: string): Promise<void> {
  const asset = newAsset(memberId, { model: '', endpoint: 'chat' });
  const file = { asset, purpose: 'batch', filename: 'night.jsonl', path: CHAT, lines: 4 } as const;
  await store.createFile(file, SPACE);
  const lasting = { metadata: '{"by":"ben"}', windowMs: HOUR_MS, outputLifetimeMs: null };
  const wanted = { ...newSubmission(memberId), fileId: asset.id, path: CHAT, ...lasting };
  const batch = created(await store.createFileBatch(wanted, NOW));
  const lines = [{ line: 1, customId: 'line-1', made: newItem() }];
  const fed = { batchId: batch.id, fromByte: 0, toByte: 100, lines, maxAttempts: 3 };
  await store.feedFileBatch(fed, ROOMY, NOW);
  await store.changeMember(memberId, { name: 'benjamin' }, NOW);
  await store.createMember(newMember('zoë'), NOW);
}
