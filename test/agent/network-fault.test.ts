import { networkFault } from '@inference-gateway/agent/network-fault';
import { linkFault } from '@inference-gateway/agent/link/reconnect';
import { dial } from '@inference-gateway/agent/link/dial';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { deadOrigin, httpServer } from './cli/agent-program.js';

function fault(code: string, message: string, errors?: readonly Error[]): string {
  return networkFault(Object.assign(new Error(message), { code, ...(errors && { errors }) }));
}

test.each([
  ['ENOTFOUND', 'no DNS server knows its name (x). Is this machine online?'],
  ['EAI_AGAIN', 'no DNS server answers (x). Is this machine online?'],
  ['ECONNREFUSED', 'nothing listens there (x)'],
  ['ENETUNREACH', 'no way leads there (x). Is this machine online?'],
  ['CERT_NOT_YET_VALID', "its certificate is not valid yet. If this machine's clock is wrong"],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is signed by an authority unknown here'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is signed by an authority unknown here'],
])('%s is told in words', (code, says) => {
  expect(fault(code, 'x')).toContain(says);
});

test('what is not known keeps its own words, and no more than a line of them', () => {
  expect(fault('EWHATEVER', 'some words')).toBe('some words');
  expect(networkFault(new Error('no code'))).toBe('no code');
  expect(fault('EWHATEVER', 'a\u001b[2Jb\nc')).toBe('a [2Jb c');
  expect(fault('EWHATEVER', 'long '.repeat(1_000))).toHaveLength(300);
});

test('the client’s own words around a reason are left out', () => {
  const message =
    'request to http://x/agent/v1/self failed, reason: connect ECONNREFUSED 127.0.0.1:9';
  const expected = 'nothing listens there (connect ECONNREFUSED 127.0.0.1:9)';
  expect(fault('ECONNREFUSED', message)).toBe(expected);
});

test('of a name with several addresses, the first that failed is told', () => {
  const one = Object.assign(new Error('connect ECONNREFUSED ::1:9'), { code: 'ECONNREFUSED' });
  expect(fault('ECONNREFUSED', '', [one])).toBe(
    'nothing listens there (connect ECONNREFUSED ::1:9)',
  );
});

/** Why there is no link to what answers so. */
async function dialled(answer: RequestListener): Promise<string> {
  const end = await dial(await httpServer(answer), 'gwa_test');
  return end.kind === 'refused' ? linkFault(end.status, end.location) : end.kind;
}

test.each([
  [200, 'does not pass WebSockets on, or it is no coordinator'],
  [404, 'no coordinator is at that address. Write it without /v1'],
  [407, 'a proxy in between wants a log-in'],
  [502, 'the proxy before it does not reach it'],
])('an answer %i in place of a link is told in words', async (status, says) => {
  expect(await dialled((_, response) => response.writeHead(status).end())).toContain(says);
});

test('a status that says enough is left as it is', () => {
  expect(linkFault(503, null)).toBe('the coordinator answered 503');
});

test('a page to sign in at is told as what it is, and not followed', async () => {
  const location = 'https://hotel.example/sign-in';
  const told = await dialled((_, response) => response.writeHead(302, { location }).end());
  expect(told).toContain(`its address redirects to ${location} (302)`);
  expect(told).toContain('sign in to the network');
});

async function reasonOf(origin: string): Promise<string> {
  const end = await dial(origin, 'gwa_test');
  return end.kind === 'unreachable' ? end.reason : end.kind;
}

test('nobody, a name that nobody has, and a port without TLS are told apart', async () => {
  expect(await reasonOf(await deadOrigin())).toContain('nothing listens there');
  expect(await reasonOf('https://gateway.invalid')).toContain('no DNS server');
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 No\r\n'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await reasonOf(`https://127.0.0.1:${port}`)).toContain('it does not speak TLS');
});
