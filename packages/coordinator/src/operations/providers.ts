import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/access/name.js';
import type { Provider, Store } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import {
  describeProviders,
  nameOf,
  presentProvider,
  presentOwnShares,
  presentUptime,
  viewsById,
} from './provider-view.js';
import { resolveProvider } from './references.js';

const oneProvider = z.strictObject({ provider: z.string() });

export const listProviders = adminRead(z.strictObject({}), async (context) => {
  const views = viewsById(context);
  const providers = await context.store.listProviders();
  return providers.map((provider) => presentProvider(provider, views.get(provider.id)));
});

export const showProvider = adminRead(oneProvider, async (context, args) => {
  const { store } = context;
  const provider = await resolveProvider(store, args.provider);
  const [details] = await describeProviders(context, [provider]);
  if (details === undefined) throw gone(provider);
  return {
    ...details,
    uptime: await presentUptime(context, provider.id, details.online),
    shares: await presentOwnShares(context, await store.listShares(provider.id)),
    /** Members that its owner blocks. */
    blocked: await blockedBy(store, provider.ownerId),
  };
});

/** Current work continues; new work goes elsewhere until `resume`. */
export const drainProvider = adminChange(oneProvider, (context, args) =>
  setDraining(context, args.provider, true),
);
export const resumeProvider = adminChange(oneProvider, (context, args) =>
  setDraining(context, args.provider, false),
);

/** The owner's work continues; that of others goes elsewhere until `unpause`. */
export const pauseProvider = adminChange(oneProvider, (context, args) =>
  setPaused(context, args.provider, true),
);
export const unpauseProvider = adminChange(oneProvider, (context, args) =>
  setPaused(context, args.provider, false),
);

export const kickProvider = adminChange(oneProvider, async ({ store, links }, args) => {
  const provider = await resolveProvider(store, args.provider);
  const { id } = provider;
  const name = nameOf(provider);
  if (links?.kick(id) !== true) {
    const message = `${name} is not online, so there is no link to close.`;
    throw new CommandError(EXIT.conflict, message);
  }
  // Closing a link does not change the store, so that it is logged here.
  const subject = { kind: 'provider', id, name };
  await store.recordAudit({ action: 'provider.kick', subject, before: null, after: null });
  return { id, name };
});

/** It gets work from then on; not needed if the policy approves every provider. */
export const approveProvider = adminChange(oneProvider, async ({ store, now }, args) => {
  const provider = await resolveProvider(store, args.provider);
  const name = nameOf(provider);
  if (await store.approveProvider(provider.id, now())) return { id: provider.id, name };
  throw new CommandError(EXIT.conflict, `${name} is approved already.`);
});

export const renameProvider = adminChange(
  z.strictObject({ provider: z.string(), name: z.string().regex(NAME_PATTERN, NAME_RULE) }),
  async ({ store }, { provider: reference, name }) => {
    const provider = await resolveProvider(store, reference);
    const renamed = await store.renameProvider(provider.id, name);
    if (renamed.kind === 'unknown') throw gone(provider);
    if (renamed.kind === 'taken') {
      const message = `${provider.ownerName} has a provider '${name}' already. Give another name.`;
      throw new CommandError(EXIT.conflict, message);
    }
    return { id: provider.id, name: nameOf(renamed.value), before: nameOf(provider) };
  },
);

/** Its agent must enrol again, as a new provider. */
export const removeProvider = adminChange(oneProvider, async ({ store, now }, args) => {
  const provider = await resolveProvider(store, args.provider);
  const shares = await store.listShares(provider.id);
  if (!(await store.removeProvider(provider.id, now()))) throw gone(provider);
  return { id: provider.id, name: nameOf(provider), shares: shares.length };
});

async function setDraining(context: AdminContext, reference: string, draining: boolean) {
  const provider = await resolveProvider(context.store, reference);
  await context.store.setProviderDraining(provider.id, draining);
  return { id: provider.id, name: nameOf(provider), draining };
}

async function setPaused(context: AdminContext, reference: string, paused: boolean) {
  const provider = await resolveProvider(context.store, reference);
  await context.store.setProviderPaused(provider.id, paused);
  return { id: provider.id, name: nameOf(provider), paused };
}

async function blockedBy(store: Store, owner: string): Promise<readonly string[]> {
  const blocks = await store.listBlocks();
  return blocks.filter(({ ownerId }) => ownerId === owner).map(({ memberName }) => memberName);
}

/** Removed meanwhile. */
function gone(provider: Provider): CommandError {
  return new CommandError(EXIT.notFound, `the provider ${nameOf(provider)} is gone.`);
}
