/**
 * `/agent/v1/self` and `/agent/v1/shares`: an agent reads the state of its provider, and creates or
 * ends shares for its owner, as `gateway-coordinator provider share` does.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { nearest } from '@inference-gateway/shared/nearest';
import { check } from '@inference-gateway/shared/openai/check';
import { SELF_PATH, SHARES_PATH, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import type Router from '@koa/router';
import { formatDayHours, parseDayHours } from '@inference-gateway/shared/day-hours';
import * as z from 'zod';
import { readBearer } from '@inference-gateway/shared/bearer';
import { isSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { Links } from '../../core/routing/links.js';
import { warningOf, hoursFault, SHARE_LIMITS } from '../../core/access/sharing.js';
import { changedQuota, parseLimits, writtenRules } from '../../core/usage/quota.js';
import type { QuotaLimits, QuotaPeriod } from '../../core/usage/quota.js';
import { shareUses } from '../../core/usage/quotas.js';
import type { ShareCaps } from '../../core/access/sharing.js';
import type { Network, Provider, Share, Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { Context, RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';

/** Per address and minute: enough for the first start of ten machines behind one address. */
const MAX_CALLS = 120;

export interface AgentParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<
    Store,
    'by' | 'findProviderByToken' | 'listNetworks' | 'listShares' | 'shareUse'
  >;
  readonly links: Pick<Links, 'providers'>;
  /** Version of this coordinator. */
  readonly version: string;
  /** Unix ms. */
  readonly now: () => number;
}

export function agentRoutes(router: Router<RequestState>, parts: AgentParts): void {
  const limit = new AddressLimit(MAX_CALLS);
  const admit = async (ctx: Context): Promise<Provider> => {
    limit.take(ctx.state.ip);
    ctx.set('Cache-Control', 'no-store');
    return authenticateAgent(ctx.get('authorization'), parts.store);
  };
  router.get(SELF_PATH, async (ctx) => {
    ctx.body = await tellSelf(await admit(ctx), parts);
  });
  const { bodies } = parts;
  router.post(SHARES_PATH, async (ctx) => {
    const provider = await admit(ctx);
    ctx.body = await share(provider, await bodies.read(ctx, provider.id), parts);
    ctx.status = 201;
  });
  router.delete(`${SHARES_PATH}/:id`, async (ctx) => {
    await unshare(await admit(ctx), ctx.params['id'] ?? '', parts);
    ctx.status = 204;
  });
}

async function tellSelf(provider: Provider, { store, version, now }: AgentParts) {
  const networks = await networksOf(provider, store);
  const shares = await store.listShares(provider.id);
  const gateway = { version, protocols: [SUBPROTOCOL], now: now() };
  const usedOf = await shareUses(shares, (ids, at) => store.shareUse(ids, at), gateway.now);
  return presentSelf({ provider, networks, shares, usedOf, gateway });
}

async function share(provider: Provider, body: unknown, parts: AgentParts) {
  const { store, links, now } = parts;
  const wanted = check(newShare, body);
  refuseTwoSubjects(wanted);
  const caps = readCaps(wanted);
  const network = findNetwork(await networksOf(provider, store), wanted.network);
  const subject = { serviceId: wanted.service_id ?? null, model: wanted.model ?? null };
  const audience = { kind: 'network', id: network.id } as const;
  const row = { providerId: provider.id, subject, audience, caps, cap: MAX_SHARES };
  const shared = await store.by(actorOf(provider)).putShare(row, now());
  if (shared.kind === 'full') throw tooMany(shared.count);
  const name = `${provider.ownerName}/${provider.name}`;
  const warning = warningOf({ name, services: servicesOf(provider, links) }, subject);
  return { ...presentAgentShare(shared.value), warning };
}

/** Per provider: each share is kept in memory, and any member may run an agent. */
const MAX_SHARES = 256;

function tooMany(count: number): ApiError {
  const message =
    `This provider has ${count} shares; an agent makes at most ${MAX_SHARES}. ` +
    'End one, or share a service or all of it.';
  return new ApiError('invalid_value', message);
}

/** All shares of the provider, including those made on a command line. */
async function unshare(provider: Provider, id: string, { store }: AgentParts): Promise<void> {
  const isOwn = (one: Share): boolean => one.id === id;
  if (!(await store.listShares(provider.id)).some(isOwn)) throw noShare(id);
  if (!(await store.by(actorOf(provider)).deleteShare(id))) throw noShare(id);
}

function actorOf({ id }: Provider): string {
  return `provider:${id}`;
}

/** The link is more current than the row, which is written a moment later. */
function servicesOf(provider: Provider, links: AgentParts['links']): Provider['services'] {
  const view = links.providers().find(({ providerId }) => providerId === provider.id);
  return view === undefined || view.link === null ? provider.services : view.services;
}

async function networksOf(
  { ownerId }: Provider,
  store: Pick<Store, 'listNetworks'>,
): Promise<readonly Network[]> {
  const networks = await store.listNetworks();
  return networks.filter(({ members }) => members.some(({ id }) => id === ownerId));
}

/** Networks without the owner count as unknown: their names are not revealed. */
function findNetwork(networks: readonly Network[], reference: string): Network {
  const wanted = reference.toLowerCase();
  const network = networks.find(
    ({ id, name }) => id === reference || name.toLowerCase() === wanted,
  );
  if (network !== undefined) return network;
  const names = networks.map(({ name }) => name);
  const meant = nearest(reference, names).join(', ');
  const hint = meant === '' ? '' : ` Did you mean ${meant}?`;
  const theirs = names.length === 0 ? 'none' : names.slice(0, MAX_NAMED).join(', ');
  const message = `The owner is in no network '${reference}'.${hint} Their networks: ${theirs}.`;
  throw new ApiError('network_not_found', message, { param: 'network' });
}

const MAX_NAMED = 20;

const MAX_SHOWN = 64;

function noShare(id: string): ApiError {
  const message = `Nothing of this provider is shared by the id '${id.slice(0, MAX_SHOWN)}'.`;
  return new ApiError('share_not_found', message);
}

// An agent's own provider. Times are Unix ms, as on its link.
interface Self {
  readonly provider: Provider;
  /** The networks that its owner is in. */
  readonly networks: readonly Network[];
  readonly shares: readonly Share[];
  readonly usedOf: Awaited<ReturnType<typeof shareUses>>;
  readonly gateway: {
    readonly version: string;
    /** Supported subprotocols. */
    readonly protocols: readonly string[];
    readonly now: number;
  };
}

function presentSelf({ provider, networks, shares, usedOf, gateway }: Self) {
  return {
    provider_id: provider.id,
    name: provider.name,
    owner: provider.ownerName,
    approved: provider.approvedAt !== null,
    draining: provider.draining,
    version: gateway.version,
    protocols: gateway.protocols,
    server_time: gateway.now,
    networks: networks.map(({ id, name, members }) => ({ id, name, members: members.length })),
    shares: shares.map((share) => ({ ...presentAgentShare(share), used: usedOf(share) })),
  };
}

function presentAgentShare({ id, subject, audience, audienceName, caps, ...share }: Share) {
  const written = writtenRules(caps.quota ?? null);
  return {
    id,
    service_id: subject.serviceId,
    model: subject.model,
    network: audience.kind === 'network' ? audienceName : null,
    member: audience.kind === 'member' ? audienceName : null,
    slots: caps.slots,
    hours: caps.hours === null ? null : formatDayHours(caps.hours),
    max_tokens: caps.maxTokens,
    day: written.day,
    month: written.month,
    created_at: share.createdAt,
  };
}

// The body of an agent's request for a share.
const subject = z.string().min(1).max(SHARE_LIMITS.subjectCharacters).nullish();

/** Strict: a mistyped cap would share more than intended. */
const newShare = z.strictObject({
  /** Name or id. */
  network: z.string().min(1).max(64),
  service_id: subject,
  model: subject,
  slots: z.int().min(1).max(SHARE_LIMITS.slots).nullish(),
  /** `22:00-07:00` */
  hours: z.string().max(64).nullish(),
  /** An IANA name, for the hours. */
  time_zone: z.string().max(64).nullish(),
  max_tokens: z.int().min(1).max(SHARE_LIMITS.tokens).nullish(),
  /** `requests=100,tokens=50000`: what all others together may use. */
  day: z.string().max(128).nullish(),
  month: z.string().max(128).nullish(),
});

type NewShareBody = z.output<typeof newShare>;

function refuseTwoSubjects({ service_id: service, model }: NewShareBody): void {
  if ((service ?? null) === null || (model ?? null) === null) return;
  const message = 'A share binds one service or one model: send service_id or model, not both.';
  throw new ApiError('invalid_value', message, { param: 'model' });
}

function readCaps(body: NewShareBody): ShareCaps {
  const { slots = null, max_tokens: maxTokens = null } = body;
  const quota = changedQuota(null, {
    day: readLimits(body, 'day'),
    month: readLimits(body, 'month'),
  });
  return { slots, maxTokens, hours: readHours(body), ...(quota && { quota }) };
}

function readLimits(body: NewShareBody, period: QuotaPeriod): QuotaLimits {
  const written = body[period] ?? null;
  const limits = written === null ? {} : parseLimits(written);
  if (limits !== null) return limits;
  const message =
    `${period} is '${written}': write requests=N, tokens=N, images=N or audio_s=N, several with ` +
    'commas between.';
  throw new ApiError('invalid_value', message, { param: period });
}

function readHours({ hours = null, time_zone: timeZone = null }: NewShareBody): ShareCaps['hours'] {
  if (hours === null && timeZone === null) return null;
  if (hours === null || timeZone === null) {
    const message = 'A time zone is that of hours: send hours with time_zone.';
    throw new ApiError('invalid_value', message, { param: 'time_zone' });
  }
  const read = parseDayHours(hours, timeZone);
  if (read !== null) return read;
  const param = parseDayHours(hours, 'UTC') === null ? 'hours' : 'time_zone';
  throw new ApiError('invalid_value', `'${param}': ${hoursFault(hours, timeZone)}`, { param });
}

/** The provider of the agent's token, which is also the token of its link. */
async function authenticateAgent(
  authorization: string,
  store: Pick<Store, 'findProviderByToken'>,
): Promise<Provider> {
  const token = readBearer(authorization);
  if (token === null) {
    const message = "No agent token. Send the header 'Authorization: Bearer gwa_…'.";
    throw new ApiError('missing_api_key', message);
  }
  const provider = isSecret('gwa', token)
    ? await store.findProviderByToken(hashSecret(token))
    : null;
  if (provider === null) {
    const message = 'The agent token is not known here. Enrol the machine again.';
    throw new ApiError('invalid_api_key', message);
  }
  if (!provider.isOwnerDisabled) return provider;
  const message = `The owner of this machine, ${provider.ownerName}, is disabled. Ask the admin.`;
  throw new ApiError('owner_disabled', message);
}
