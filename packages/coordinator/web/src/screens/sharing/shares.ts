/** The member's shares and their audiences, for Network and for each provider. */
import { quotaText, writtenQuota } from '../../ui/form/quota-fields.js';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { plural } from '../../ui/text/format.js';

export type GivenShare = MyResult<'share.given'>[number];
export type OwnProvider = MyResult<'provider.list'>[number];

export interface Audience {
  readonly kind: 'network' | 'member';
  readonly id: string;
  readonly name: string;
}

/** The whole provider if both are null; at most one of them is not null. */
export interface Subject {
  readonly service: string | null;
  readonly model: string | null;
}

const EVERY_MS = 2_000;

export function useGivenShares() {
  return useMy('share.given', {}, { everyMs: EVERY_MS });
}

export function useNetworks() {
  return useMy('network.list', {}, { everyMs: EVERY_MS });
}

/** Networks first, then other audiences of shares, including networks that the member has left. */
export function audiencesOf(
  networks: readonly { readonly id: string; readonly name: string }[],
  shares: readonly GivenShare[],
  people: readonly Audience[] = [],
): readonly Audience[] {
  const joined = networks.map(({ id, name }): Audience => ({ kind: 'network', id, name }));
  const all = [...joined, ...shares.map(audienceOf), ...people];
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

function audienceOf({ audience_id: id, network, member }: GivenShare): Audience {
  return network === null
    ? { kind: 'member', id, name: member ?? '' }
    : { kind: 'network', id, name: network };
}

/** The share of exactly this subject with exactly this audience. */
export function shareFor(
  shares: readonly GivenShare[],
  { service, model }: Subject,
  audience: Audience,
): GivenShare | undefined {
  return shares.find(
    (one) => one.service_id === service && one.model === model && one.audience_id === audience.id,
  );
}

/** The wider share with this audience that includes this subject; null if there is none. */
export function widerShare(
  { provider, subject }: { readonly provider: OwnProvider; readonly subject: Subject },
  shares: readonly GivenShare[],
  audience: Audience,
): string | null {
  const { service, model } = subject;
  if (service === null && model === null) return null;
  if (shareFor(shares, { service: null, model: null }, audience)) return 'everything';
  if (model === null) return null;
  const serving = provider.services.filter((one) => one.models.some(({ id }) => id === model));
  const shared = serving.find(({ service_id: id }) =>
    shareFor(shares, { service: id, model: null }, audience),
  );
  return shared?.service_id ?? null;
}

/**
 * `2 slots · 22:00-07:00 Europe/Berlin · 4,096 tokens · 5 of 100 requests a day`; empty without
 * limits.
 */
export function limitsText(limits: GivenLimits): string {
  const { slots, hours, max_tokens: tokens, day = null, month = null, used = null } = limits;
  return [
    slots === null ? '' : plural(slots, 'slot'),
    hours ?? '',
    tokens === null ? '' : plural(tokens, 'token'),
    quotaText(writtenQuota({ day, month }), used ?? undefined),
  ]
    .filter(Boolean)
    .join(' · ');
}

export type GivenLimits = Pick<GivenShare, 'slots' | 'hours' | 'max_tokens'> &
  Partial<Pick<GivenShare, 'day' | 'month' | 'used'>>;

/** The audience as arguments of the operations. */
export function selectorOf({ kind, id }: Audience) {
  return kind === 'network' ? { network: id, user: null } : { network: null, user: id };
}
