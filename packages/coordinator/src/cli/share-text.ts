import type { ShareView } from '../admin/share-view.js';

/** `model m of anna/den-pc with friends (2 slots, 500 tokens, 22:00-07:00 Europe/Berlin)` */
export function shareText(share: ShareView): string {
  return `${subjectText(share)} of ${share.provider} with ${audienceText(share)}${capsText(share)}`;
}

/** Several, each with the id by which `unshare` ends it. */
export function sharesText(shares: readonly ShareView[]): string {
  return shares.map((share) => `${share.id}: ${shareText(share)}`).join('; ');
}

function subjectText({ service_id: service, model }: ShareView): string {
  if (service !== null) return `service ${service}`;
  return model === null ? 'all' : `model ${model}`;
}

function audienceText({ network, member }: ShareView): string {
  return network === null ? `the member ${member}` : `the network ${network}`;
}

function capsText({ slots, hours, max_tokens: tokens }: ShareView): string {
  const caps = [
    slots === null ? [] : counted(slots, 'slot'),
    tokens === null ? [] : counted(tokens, 'token'),
    hours ?? [],
  ].flat();
  return caps.length === 0 ? '' : ` (${caps.join(', ')})`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
