/** What members and providers are called, for whoever reads their ids. */
import type { Store } from '../store/port.js';

/** By id, as other commands name them. */
export async function memberNames(store: Store): Promise<ReadonlyMap<string, string>> {
  return new Map((await store.listMembers()).map(({ id, name }) => [id, name]));
}

/** By id, as `OWNER/NAME`. */
export async function providerNames(store: Store): Promise<ReadonlyMap<string, string>> {
  const providers = await store.listProviders();
  return new Map(providers.map(({ id, ownerName, name }) => [id, `${ownerName}/${name}`]));
}
