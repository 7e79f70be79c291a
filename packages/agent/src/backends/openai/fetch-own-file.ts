/**
 * Files that a local server answers as an address. Only its own are fetched: others would
 * let a model server, or whoever prompts it, make requests inside the home network.
 */
import { LocalFailure } from '../backend.js';
import { forward } from '../forward.js';
import type { CallTarget } from '../run-call.js';

/** `url` may be relative to the server's base URL. Follows no redirect. */
export async function fetchOwnFile(
  { baseUrl, apiKey }: CallTarget,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const base = new URL(`${baseUrl}/`);
  const address = URL.canParse(url, base.href) ? new URL(url, base) : null;
  if (address?.origin !== base.origin) {
    const message = 'the local server answered an address of another server instead of a file.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  const { origin, pathname, search } = address;
  const answer = await forward({ url: origin + pathname + search, apiKey, body: null, signal });
  if (answer.status === 200) return answer.body;
  answer.body.abandon();
  const message = `the local server answered ${answer.status} to the address of its own file.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}
