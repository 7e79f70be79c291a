/** Which addresses the agent may be given: one coordinator, and the local servers of its owner. */
import { isLoopback } from '@inference-gateway/shared/loopback';

/** A coordinator may be written as what it is dialled with. */
const HTTP_SCHEMES: Readonly<Record<string, string>> = { 'ws:': 'http:', 'wss:': 'https:' };

/**
 * What is wrong with a coordinator's URL, or null: the token must not cross a network in the
 * clear.
 */
export function coordinatorUrlFault(text: string): string | null {
  const url = parse(text);
  const scheme = schemeOf(url);
  if (url === null || (scheme !== 'http:' && scheme !== 'https:')) {
    return 'it must be the address of the coordinator, like https://gateway.example.org';
  }
  if (scheme === 'http:' && !isLoopback(url.hostname)) {
    return `it must be https://${url.host}: only to this machine may the link be unencrypted`;
  }
  if (url.pathname !== '/') return `it must be ${url.origin} alone, without ${url.pathname}`;
  return extraFault(url);
}

/** What is wrong with the base URL of a local model server, or null. */
export function localUrlFault(text: string): string | null {
  const url = parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'it must start with http:// or https://, like http://127.0.0.1:8080/v1';
  }
  return extraFault(url);
}

/** The origin of a sound coordinator URL: `http(s)://host`, which the rest of the agent takes. */
export function coordinatorUrl(text: string): string {
  const url = new URL(text);
  return `${schemeOf(url)}//${url.host}`;
}

export function trimSlashes(text: string): string {
  return text.replace(/\/+$/, '');
}

function parse(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function schemeOf(url: URL | null): string | undefined {
  return url === null ? undefined : (HTTP_SCHEMES[url.protocol] ?? url.protocol);
}

function extraFault({ username, password, search, hash }: URL): string | null {
  if (username !== '' || password !== '') return 'it must not hold a user name or password';
  return search === '' && hash === '' ? null : 'it must end before "?" and "#"';
}
