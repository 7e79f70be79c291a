import { ApiError } from '@inference-gateway/shared/errors';
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from './public-address.js';

/**
 * Throws where the URL itself names an address that is not public. Names are resolved when there is
 * something to send: what they stand for now says nothing about then.
 */
export function refuseAddress(url: string, allowPrivate: boolean): void {
  const host = hostOf(url);
  if (allowPrivate || !isOfThisNetwork(host)) return;
  const message =
    `'webhook.url' leads to ${host}, which is not a public address. Use one that is, or ask the ` +
    "gateway's admin to set GATEWAY_WEBHOOK_PRIVATE.";
  throw new ApiError('invalid_value', message, { param: 'webhook.url' });
}

/** Without the brackets of IPv6 and the dot at the end of a name; empty where it is no URL. */
export function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[|\]$|\.$/g, '');
}

function isOfThisNetwork(host: string): boolean {
  if (ipaddr.isValid(host)) return !isPublicAddress(host);
  return host === 'localhost' || host.endsWith('.localhost');
}
