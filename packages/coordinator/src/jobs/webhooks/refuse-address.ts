import { ApiError } from '@inference-gateway/shared/errors';
import ipaddr from 'ipaddr.js';
import { interfaceAddresses, isOneOf, isPublicAddress } from './public-address.js';

/** Where webhooks may go. */
export interface AddressRule {
  /** True: anywhere, also to this machine. */
  readonly allowPrivate: boolean;
  /** The gateway's own; null where it is unset. */
  readonly publicUrl: string | null;
  /** This machine's addresses. They are asked for at each check. */
  readonly interfaces?: () => readonly string[];
}

/**
 * Throws where the URL itself names an address that is not public, or the gateway's own. Names are
 * resolved when there is something to send: what they stand for now says nothing about then.
 */
export function refuseAddress(url: string, rule: AddressRule): void {
  if (rule.allowPrivate) return;
  const host = hostOf(url);
  const fault = faultOf(host, rule);
  if (fault === null) return;
  const message =
    `'webhook.url' leads to ${host}, which ${fault}. Use a public address of another machine, or ` +
    "ask the gateway's admin to set GATEWAY_WEBHOOK_PRIVATE.";
  throw new ApiError('invalid_value', message, { param: 'webhook.url' });
}

/** Without the brackets of IPv6 and the dot at the end of a name; empty where it is no URL. */
export function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[|\]$|\.$/g, '');
}

function faultOf(host: string, { publicUrl, interfaces = interfaceAddresses }: AddressRule) {
  if (isOfThisNetwork(host)) return 'is not a public address';
  const isGateway = publicUrl !== null && hostOf(publicUrl) === host;
  return isGateway || isOneOf(interfaces(), host) ? 'is this gateway itself' : null;
}

function isOfThisNetwork(host: string): boolean {
  if (ipaddr.isValid(host)) return !isPublicAddress(host);
  return host === 'localhost' || host.endsWith('.localhost');
}
