/** What members and providers are called, for whoever reads their ids. */
import type { Store } from '../store/port.js';
import type { AdminContext } from './operation.js';

/** By id, as other commands name them. */
export async function memberNames(store: Store): Promise<ReadonlyMap<string, string>> {
  return new Map((await store.listMembers()).map(({ id, name }) => [id, name]));
}

/** By id, as `OWNER/NAME`. */
export async function providerNames(store: Store): Promise<ReadonlyMap<string, string>> {
  const providers = await store.listProviders();
  return new Map(providers.map(({ id, ownerName, name }) => [id, `${ownerName}/${name}`]));
}

/**
 * The same for those that are named: a running coordinator knows nearly all of them by heart, and
 * reads what each of them serves only for the others.
 */
export async function namesOfProviders(
  { store, sessions }: Pick<AdminContext, 'store' | 'sessions'>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = new Map(
    sessions
      ?.providers()
      .map(({ providerId, ownerName, name }) => [providerId, `${ownerName}/${name}`]),
  );
  const isWhole = ids.every((id) => id === null || id === '' || known.has(id));
  return isWhole ? known : providerNames(store);
}
