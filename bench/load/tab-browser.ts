/** A member's browser: the connections that its tabs share, and its request headers. */
import { request } from 'node:http';
import type { Agent, IncomingMessage } from 'node:http';

export interface Browser {
  readonly origin: string;
  readonly cookie: string;
  readonly connections: Agent;
  readonly tally: Tally;
}

/** What the tabs of all browsers did. */
export interface Tally {
  requests: number;
  notModified: number;
  hints: number;
  failed: number;
  bytes: number;
  readonly latenciesMs: number[];
}

/** As many to one host as browsers open. */
export const MAX_CONNECTIONS = 6;

/** What Chromium sends with a page's own `fetch`. */
const SAID = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9',
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ' +
    'Chrome/142.0.0.0 Safari/537.36',
};

/** Null if it failed. */
export async function ask(
  { origin, cookie, connections, tally }: Browser,
  path: string,
  etag: string | null,
): Promise<{ etag: string | null } | null> {
  const held = etag === null ? {} : { 'if-none-match': etag };
  const headers = { ...SAID, referer: `${origin}/`, cookie, ...held };
  const startedAt = performance.now();
  try {
    const { response, bytes } = await exchange(new URL(path, origin), { headers, connections });
    const { statusCode: status = 0 } = response;
    tally.requests += 1;
    tally.bytes += bytes;
    tally.latenciesMs.push(performance.now() - startedAt);
    if (status === 304) tally.notModified += 1;
    else if (status !== 200) tally.failed += 1;
    return { etag: response.headers.etag ?? null };
  } catch {
    tally.failed += 1;
    return null;
  }
}

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: Agent;
}

function exchange(url: URL, { headers, connections: agent }: Sent): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent }, (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => (bytes += piece.length));
      response.on('end', () => resolve({ response, bytes }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

interface Answered {
  readonly response: IncomingMessage;
  /** Of its body. */
  readonly bytes: number;
}
