/** Rows for tests of the store, each made with what a test does not care about filled in. */
import type {
  ApiKey,
  Asset,
  Member,
  NewApiKey,
  NewMember,
  Provider,
  Store,
  UsageRow,
} from '@inference-gateway/coordinator/store/port';
import { newSecret, randomId } from '@inference-gateway/shared/ids';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { createHash, randomBytes } from 'node:crypto';

export const NOW = 1_760_000_000_000;

export const SERVICE: AdvertisedService = {
  service_id: 'llm-1',
  service_type: 'llm',
  slots: 2,
  models: [
    {
      id: 'llama-3.1-8b',
      served_name: 'llama3.1:8b',
      context_length: 131_072,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supported_features: ['tools'],
      loaded: null,
    },
  ],
};

export const HOST = { os: 'linux', arch: 'x64', gpus: [] };

export function newMember(name: string): NewMember {
  return { email: `${name}@example.org`, name, role: 'member', passwordHash: null };
}

export function usageRow(index: number): UsageRow {
  return {
    requestId: `req_${index}`,
    at: NOW + index,
    memberId: 'member',
    keyId: 'key',
    providerId: null,
    model: 'llama-3.1-8b',
    serviceType: 'llm',
    endpoint: 'chat',
    promptTokens: 3,
    completionTokens: 4,
    audioMs: 0,
    images: 0,
    queueMs: 0.4,
    firstByteMs: null,
    totalMs: 12.6,
    attempts: 1,
    outcome: 'ok',
    errorCode: null,
    source: 'api',
  };
}

export function newAsset(memberId: string, asset: Partial<Asset> = {}): Asset {
  return {
    id: randomId(),
    memberId,
    providerId: null,
    requestId: 'req_1',
    model: 'kokoro',
    endpoint: 'speech',
    contentType: 'audio/wav',
    bytes: 1_000,
    sha256: sha256('bytes'),
    seconds: null,
    createdAt: NOW,
    expiresAt: NOW + 1_000_000,
    ...asset,
  };
}

export async function createMember(store: Store, name: string): Promise<Member> {
  return created(await store.createMember(newMember(name), NOW));
}

export function newKey(memberId: string, key: Partial<NewApiKey> = {}): NewApiKey {
  const secret = newSecret('gwk');
  const [prefix, hash] = [secret.slice(0, 12), sha256(secret)];
  return { memberId, name: randomHex(), prefix, hash, scope: 'any', expiresAt: null, ...key };
}

export async function createKey(
  store: Store,
  memberId: string,
  overrides: Partial<NewApiKey> = {},
): Promise<{ readonly key: ApiKey; readonly hash: string }> {
  const key = newKey(memberId, overrides);
  return { key: created(await store.createKey(key, NOW)), hash: key.hash };
}

interface JoinTokenOverrides {
  readonly ownerId?: string;
  readonly name?: string | null;
  readonly expiresAt?: number;
}

export async function createJoinToken(
  store: Store,
  overrides: JoinTokenOverrides,
): Promise<{ readonly ownerId: string; readonly joinTokenHash: string }> {
  const ownerId = overrides.ownerId ?? (await createMember(store, 'anna')).id;
  const { name = null, expiresAt = NOW + 1_000 } = overrides;
  const joinTokenHash = sha256(randomHex());
  await store.createJoinToken({ ownerId, name, hash: joinTokenHash, expiresAt }, NOW);
  return { ownerId, joinTokenHash };
}

export async function createProvider(store: Store): Promise<Provider> {
  const { joinTokenHash } = await createJoinToken(store, {});
  const tokenHash = sha256(randomHex());
  return created(await store.enroll({ joinTokenHash, tokenHash, name: 'den-pc' }, NOW));
}

export function created<T>(outcome: { kind: 'created'; value: T } | { kind: string }): T {
  if ('value' in outcome) return outcome.value;
  throw new Error(`not created: ${JSON.stringify(outcome)}`);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function randomHex(): string {
  return randomBytes(8).toString('hex');
}
