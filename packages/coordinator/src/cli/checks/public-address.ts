/** Checks the public address as callers and agents use it: TLS, HTTP, and the WebSocket upgrade. */
import { randomBytes } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { checkCertificate } from '@inference-gateway/shared/program/certificate';
import { checking, obstacle } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { CONNECT_PATH, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';

const TIMEOUT_MS = 10_000;
const RENEW =
  'Let whatever ends TLS renew its certificate, with Caddy: sudo systemctl reload caddy';
const TRUST =
  'Callers refuse it as well. Take one of a public authority, with Caddy by: sudo systemctl ' +
  'reload caddy. One that is meant for your own network is trusted with: ' +
  'NODE_EXTRA_CA_CERTS=<file of the authority> gateway-coordinator doctor';
const SEE_PROXY =
  'Let the proxy lead to the coordinator, upgrades included ' +
  '(docs/operations/tls.md); ask it with: ' +
  'curl -i ';
const NOT_FROM_HERE = 'Not every network leads back to itself. From another one, try: curl -i ';

/** `running`: the result of the check of the coordinator. */
export async function checkPublicAddress(
  publicUrl: string | null,
  { known, running }: { readonly known: Check; readonly running: Check },
): Promise<Check[]> {
  const why = publicUrl === null ? 'there is no public url' : obstacle(known, running);
  if (publicUrl === null || why !== null) {
    return NAMES.map((name) => checking(name).skip(why ?? 'there is no public url'));
  }
  const tls = await checkCertificate(publicUrl, { renew: RENEW, trust: TRUST });
  const reached = tls.status === 'FAIL' ? notReached(tls) : await checkReached(publicUrl);
  const linked = reached.status === 'PASS' ? await checkUpgrade(publicUrl) : notLinked(reached);
  return [tls, reached, linked];
}

const NAMES = ['tls', 'public address', 'agent links'];

function notReached(tls: Check): Check {
  return checking('public address').skip(obstacle(tls) ?? tls.found);
}

function notLinked(reached: Check): Check {
  return checking('agent links').skip(obstacle(reached) ?? 'it is not reached from here');
}

async function checkReached(publicUrl: string): Promise<Check> {
  const { pass, warn, fail } = checking('public address');
  const url = new URL('/healthz', publicUrl).href;
  try {
    const answer = await ask(url, {});
    if (answer.status === 200 && answer.body.includes('"ok"')) return pass(`${url} answers`);
    const found = `HTTP ${answer.status} from ${url}: that is no coordinator`;
    return fail(found, SEE_PROXY + url);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND')
      return fail(`${url}: ${message}`, `Add the name; see: nslookup ${new URL(url).hostname}`);
    // If a router does not support connections to its own public address from inside, this says
    // nothing about connections from outside.
    return warn(`${url} is not reached from here: ${message}`, NOT_FROM_HERE + url);
  }
}

/**
 * Sends an agent's upgrade request without a token. If the coordinator itself refuses it, the
 * upgrade has passed the proxy.
 */
async function checkUpgrade(publicUrl: string): Promise<Check> {
  const { pass, fail } = checking('agent links');
  const url = new URL(CONNECT_PATH, publicUrl).href;
  try {
    const { status, body } = await ask(url, {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(16).toString('base64'),
      'sec-websocket-protocol': SUBPROTOCOL,
    });
    if (status === 401 && body.includes('agent token')) return pass('WebSockets come through');
    return fail(`HTTP ${status} from ${url}: WebSockets do not come through`, SEE_PROXY + url);
  } catch (error) {
    return fail(`${url}: ${(error as Error).message}`, SEE_PROXY + url);
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Uses `http.request`, because `fetch` cannot send an upgrade. Follows no redirects. */
async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url, { headers, signal, agent: false }, resolve);
    asked.once('error', reject);
    asked.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    asked.end();
  });
  if (answer.statusCode === 101) return { status: 101, body: '' };
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
