import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { ProviderView } from '../core/sessions.js';
import type { Provider } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import type { AdminContext } from './admin-context.js';
import { resolveProvider } from './references.js';

const oneProvider = z.strictObject({ provider: z.string() });

export const listProviders = adminCommand(z.strictObject({}), async (context) => {
  const views = viewsById(context);
  const providers = await context.store.listProviders();
  return providers.map((provider) => summarize(provider, views.get(provider.id)));
});

export const showProvider = adminCommand(oneProvider, async (context, args) => {
  const provider = await resolveProvider(context.store, args.provider);
  const view = viewsById(context).get(provider.id);
  const session = view?.session ?? null;
  return {
    ...summarize(provider, view),
    session_id: session?.sessionId ?? null,
    agent_version: session?.agentVersion ?? null,
    accepts: session?.accepts ?? null,
    host: session?.host ?? provider.host,
    services: servicesOf(provider, view),
  };
});

/** Work under way goes on; new work goes elsewhere until `resume`. */
export const drainProvider = adminCommand(oneProvider, (context, args) =>
  setDraining(context, args.provider, true),
);
export const resumeProvider = adminCommand(oneProvider, (context, args) =>
  setDraining(context, args.provider, false),
);

export const kickProvider = adminCommand(oneProvider, async (context, args) => {
  const provider = await resolveProvider(context.store, args.provider);
  const name = nameOf(provider);
  if (context.sessions?.kick(provider.id) === true) return { id: provider.id, name };
  const message = `${name} is not online, so there is no link to close.`;
  throw new CommandError(EXIT.conflict, message);
});

async function setDraining(context: AdminContext, reference: string, draining: boolean) {
  const provider = await resolveProvider(context.store, reference);
  await context.store.setProviderDraining(provider.id, draining);
  context.sessions?.setDraining(provider.id, draining);
  return { id: provider.id, name: nameOf(provider), draining };
}

function viewsById({ sessions }: AdminContext): Map<string, ProviderView> {
  return new Map(sessions?.providers().map((view) => [view.providerId, view]));
}

function summarize(provider: Provider, view: ProviderView | undefined) {
  const session = view?.session ?? null;
  const services = servicesOf(provider, view);
  return {
    id: provider.id,
    name: provider.name,
    owner: provider.ownerName,
    online: session !== null,
    draining: provider.draining,
    models: [...new Set(services.flatMap(({ models }) => models.map(({ id }) => id)))],
    slots: services.reduce((sum, { slots }) => sum + slots, 0),
    busy: session?.busy ?? 0,
    created_at: provider.createdAt,
    connected_at: session?.connectedAt ?? null,
    last_seen_at: provider.lastSeenAt,
  };
}

/** The link knows better than the row, which is written a moment later. */
function servicesOf(provider: Provider, view: ProviderView | undefined): Provider['services'] {
  return view === undefined || view.session === null ? provider.services : view.services;
}

function nameOf({ ownerName, name }: Provider): string {
  return `${ownerName}/${name}`;
}
