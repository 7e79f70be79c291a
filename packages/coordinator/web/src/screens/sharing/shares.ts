/** What a member shares and with whom, as the matrix of Network and of each provider shows it. */
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

/** All of a provider, where both are null; one of them is in any case. */
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

/** Networks first; then whoever else something is shared with, a network that was left as well. */
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

/** The share of exactly this with exactly them. */
export function shareFor(
  shares: readonly GivenShare[],
  { service, model }: Subject,
  audience: Audience,
): GivenShare | undefined {
  return shares.find(
    (one) => one.service_id === service && one.model === model && one.audience_id === audience.id,
  );
}

/** What is shared with them already, of which this is a part; null if nothing is. */
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

/** `2 slots · 22:00-07:00 Europe/Berlin · 4,096 tokens`, or nothing. */
export function limitsText({ slots, hours, max_tokens: tokens }: GivenLimits): string {
  return [
    slots === null ? '' : plural(slots, 'slot'),
    hours ?? '',
    tokens === null ? '' : plural(tokens, 'token'),
  ]
    .filter(Boolean)
    .join(' · ');
}

export type GivenLimits = Pick<GivenShare, 'slots' | 'hours' | 'max_tokens'>;

/** As the commands name an audience. */
export function selectorOf({ kind, id }: Audience) {
  return kind === 'network' ? { network: id, user: null } : { network: null, user: id };
}
