import { usedLimits } from '@inference-gateway/shared/program/print';
import type { ShareView } from '../operations/provider-view.js';

/** `model m of anna/den-pc with friends (2 slots, 500 tokens, 22:00-07:00 Europe/Berlin)` */
export function shareText(share: ShareView): string {
  return `${subjectText(share)} of ${share.provider} with ${audienceText(share)}${capsText(share)}`;
}

/** Several shares, each with the id for `unshare`. */
export function sharesText(shares: readonly ShareView[]): string {
  return shares.map((share) => `${share.id}: ${shareText(share)}`).join('; ');
}

/** Columns of a table; `unshare` needs the id. */
export const SHARE_COLUMNS = {
  id: ({ id }: ShareView) => id,
  share: subjectText,
  of: ({ provider }: ShareView) => provider,
  with: audienceText,
  caps: (share: ShareView) => capsOf(share).join(', '),
};

function subjectText({ service_id: service, model }: ShareView): string {
  if (service !== null) return `service ${service}`;
  return model === null ? 'all' : `model ${model}`;
}

function audienceText({ network, member }: ShareView): string {
  return network === null ? `the member ${member}` : `the network ${network}`;
}

function capsOf(share: ShareView): readonly string[] {
  const { slots, hours, max_tokens: tokens, day, month, used = null } = share;
  return [
    slots === null ? [] : counted(slots, 'slot'),
    tokens === null ? [] : counted(tokens, 'token'),
    hours ?? [],
    day === null ? [] : `${usedLimits(day, used?.day)} a day`,
    month === null ? [] : `${usedLimits(month, used?.month)} a month`,
  ].flat();
}

function capsText(share: ShareView): string {
  const caps = capsOf(share);
  return caps.length === 0 ? '' : ` (${caps.join(', ')})`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
