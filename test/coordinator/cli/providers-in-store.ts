/** A store with providers, for an administrator's commands. */
import type { ProviderView } from '@inference-gateway/coordinator/core/routing/links';
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import {
  HOST,
  SERVICE,
  created,
  newMember,
  newProvider,
  randomHex,
  sha256,
  serve,
} from '../../store/store-rows.js';

/** Enrolls a machine; creates the owner if there is no such member. */
export async function addProvider(
  store: Store,
  owner: string,
  { name, approved = true }: { readonly name: string; readonly approved?: boolean },
): Promise<Provider> {
  const now = Date.now();
  await store.createMember(newMember(owner), now);
  const ownerId = (await store.findMember(owner))?.id ?? '';
  const hash = sha256(randomHex());
  const token = { ownerId, name, hash, expiresAt: now + 1_000, replaces: null };
  await store.createJoinToken(token, now);
  const enrolled = created(await store.enroll(newProvider(hash, { name, approved }), now));
  await serve(store, enrolled.id, { now });
  return enrolled;
}

/** The provider as the links show it while its agent is connected. */
export function online(provider: Provider, accepts: 'all' | 'own' = 'all'): ProviderView {
  return {
    providerId: provider.id,
    ownerId: provider.ownerId,
    ownerName: provider.ownerName,
    name: provider.name,
    createdAt: provider.createdAt,
    link: {
      linkId: 'link',
      node: null,
      connectedAt: Date.now(),
      agentVersion: '0.1.0',
      host: HOST,
      accepts,
      busy: 1,
      cards: [],
      busyByService: new Map(),
    },
    offlineSince: null,
    draining: false,
    paused: false,
    closed: false,
    shares: [],
    services: [SERVICE],
  };
}
