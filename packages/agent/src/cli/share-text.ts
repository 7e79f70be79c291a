/** Shares as people read them. */
import type { OwnShare } from '../coordinator-api/own-provider.js';

/** `llm-1a2b3c4d with friends (1 slot, 22:00-07:00 Europe/Berlin)` */
export function shareText(share: OwnShare): string {
  const { service_id: service, model } = share;
  const what = service ?? (model === null ? 'everything' : `the model ${model}`);
  const caps = capsOf(share);
  return `${what} with ${partnerOf(share)}${caps === '' ? '' : ` (${caps})`}`;
}

export function sharesText(shares: readonly OwnShare[]): string {
  return shares.map(shareText).join('; ');
}

/** With whom a service is shared: by itself, or with all; a share of one model names it. */
export function partnersOf(serviceId: string, shares: readonly OwnShare[]): string[] {
  const reaching = shares.filter(({ service_id: id }) => id === null || id === serviceId);
  return [...new Set(reaching.map((share) => partnerOf(share) + modelOf(share)))];
}

function modelOf({ model }: OwnShare): string {
  return model === null ? '' : `: ${model}`;
}

/** A network, or a member with whom an administrator has shared it. */
function partnerOf({ network, member }: OwnShare): string {
  return network ?? member ?? 'somebody';
}

function capsOf({ slots, hours, max_tokens: tokens }: OwnShare): string {
  const caps = [
    slots === null ? null : `${slots} ${slots === 1 ? 'slot' : 'slots'}`,
    hours,
    tokens === null ? null : `${tokens} tokens an answer`,
  ];
  return caps.filter((one) => one !== null).join(', ');
}
