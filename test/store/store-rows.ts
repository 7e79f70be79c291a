/** Rows for tests of the store, with defaults for fields that a test does not set. */
import type {
  ApiKey,
  Asset,
  JoinToken,
  Member,
  NewApiKey,
  NewJoinToken,
  NewMember,
  NewProvider,
  Provider,
  Served,
  Store,
  UsageRow,
} from '@inference-gateway/coordinator/store/port';
import { newSecret, randomId } from '@inference-gateway/shared/ids';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { createHash, randomBytes } from 'node:crypto';

export const NOW = 1_760_000_000_000;

/** More operations at once wait for a connection of a slow server until they fail. */
const MAX_AT_ONCE = 96;

/** The outcomes of many operations, in order; that many run at once. */
export async function inCrowds<T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> {
  const outcomes: T[] = [];
  while (outcomes.length < count) {
    const from = outcomes.length;
    const size = Math.min(MAX_AT_ONCE, count - from);
    outcomes.push(...(await Promise.all(Array.from({ length: size }, (_, n) => run(from + n)))));
  }
  return outcomes;
}

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

/** Links the provider and records what it serves from now on. */
export async function serve(
  store: Store,
  providerId: string,
  { now = NOW, linkId = 'link', ...served }: Partial<Served & { now: number; linkId: string }> = {},
): Promise<void> {
  const link = { providerId, linkId };
  await store.resumeClaims({ ...link, claimIds: [], leaseUntil: now, random: 0 }, now);
  await store.recordServed(link, { services: [SERVICE], host: HOST, ...served }, now);
}

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
    estimated: false,
    energyJ: index % 2 === 0 ? null : 0.25 + index,
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
    keyId: 'key',
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

interface JoinTokenOverrides extends Partial<Omit<NewJoinToken, 'hash'>> {
  readonly now?: number;
}

export async function createJoinToken(
  store: Store,
  { now = NOW, ...overrides }: JoinTokenOverrides,
): Promise<{
  readonly ownerId: string;
  readonly joinTokenHash: string;
  readonly joinToken: JoinToken;
}> {
  const ownerId = overrides.ownerId ?? (await createMember(store, 'anna')).id;
  const joinTokenHash = sha256(randomHex());
  const told = { name: null, replaces: null, expiresAt: NOW + 1_000, ...overrides, ownerId };
  const joinToken = created(await store.createJoinToken({ ...told, hash: joinTokenHash }, now));
  return { ownerId, joinTokenHash, joinToken };
}

export function newProvider(
  joinTokenHash: string,
  provider: Partial<NewProvider> = {},
): NewProvider {
  return { joinTokenHash, tokenHash: sha256(randomHex()), name: null, approved: true, ...provider };
}

interface ProviderOverrides extends Partial<NewProvider> {
  readonly ownerId?: string;
}

/** By default `den-pc` of a new member. */
export async function createProvider(
  store: Store,
  { ownerId, ...provider }: ProviderOverrides = {},
): Promise<Provider> {
  const owner = ownerId === undefined ? {} : { ownerId };
  const { joinTokenHash } = await createJoinToken(store, owner);
  const enrolled = newProvider(joinTokenHash, { name: 'den-pc', ...provider });
  return created(await store.enroll(enrolled, NOW));
}

export function created<T>(outcome: { kind: 'created'; value: T } | { kind: string }): T {
  if ('value' in outcome) return outcome.value;
  throw new Error(`not created: ${JSON.stringify(outcome)}`);
}

/** The store with some operations replaced. */
export function storeWith(store: Store, operations: Partial<Store>): Store {
  return Object.assign(Object.create(store) as Store, operations);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function randomHex(): string {
  return randomBytes(8).toString('hex');
}
