/** The addresses to which webhooks really connect. */
import {
  interfaceAddresses,
  pinnedTo,
  resolveReceiver,
} from '@inference-gateway/coordinator/jobs/webhooks/receiver';
import type { Resolve } from '@inference-gateway/coordinator/jobs/webhooks/receiver';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { send } from '../../../support/recording-server.js';
import { until } from '../../../support/until.js';
import { HOOK_CERTIFICATE, HOOK_KEY } from './hook-certificate.js';
import { MemoryWebhooks, createSender, listeningLogger, startReceiver } from './webhook-stage.js';

const HERE: LookupAddress = { address: '127.0.0.1', family: 4 };
const PUBLIC: LookupAddress = { address: '8.8.8.8', family: 4 };
const STRICT = { allowPrivate: false, publicUrl: null };
const allOf = (addresses: readonly LookupAddress[]): Resolve => {
  return () => Promise.resolve(addresses);
};
/** Other names do not exist. */
const byName = (addresses: Readonly<Record<string, readonly LookupAddress[]>>): Resolve => {
  return async (host) => {
    const found = addresses[host];
    if (found === undefined) throw Object.assign(new Error(host), { code: 'ENOTFOUND' });
    return found;
  };
};
/** A name with a public and a private address; all other hosts are private. */
const resolveTwice: Resolve = async (host) => (host === 'hook.example' ? [PUBLIC, HERE] : [HERE]);

describe('a name is refused that stands for', () => {
  const cases: readonly (readonly [string, readonly LookupAddress[], RegExp])[] = [
    ['a private address', [HERE], /127\.0\.0\.1, which is not public/],
    ['a public address and a private one', [PUBLIC, HERE], /127\.0\.0\.1, which is not public/],
    ['a mapped private address', [{ address: '::ffff:10.0.0.1', family: 6 }], /not public/],
    ['nothing', [], /has no address/],
  ];
  test.each(cases)('%s', async (_, addresses, message) => {
    const resolving = resolveReceiver('https://hook.example/', {
      resolve: allOf(addresses),
      ...STRICT,
    });
    await expect(resolving).rejects.toThrow(message);
  });

  test('a private address, and nobody connects to it', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, ''));
    const { logger, lines } = listeningLogger();
    store.add(receiver.origin.replace('127.0.0.1', 'hook.example'));
    store.add(receiver.origin);
    createSender(store, { logger, resolve: resolveTwice, allowPrivate: false }).wake();
    await until(() => store.postponed.length >= 2);
    expect(receiver.requests).toEqual([]);
    expect(lines.join('')).toContain('which is not public');
  });
});

describe("a name is refused that stands for the gateway's own machine:", () => {
  const GATEWAY = 'gateway.example.org';
  const hook = { 'hook.example': [PUBLIC] };
  const mapped = [{ address: '::ffff:8.8.8.8', family: 6 }];
  const nat64 = [{ address: '64:ff9b::808:808', family: 6 }];
  const v6 = [{ address: '2606:4700::0:1111', family: 6 }];
  const rule = { ...STRICT, publicUrl: `https://${GATEWAY}` };

  test.each([
    ['of an interface', hook, ['8.8.8.8']],
    ['of an interface, in its IPv6 form', { 'hook.example': mapped }, ['8.8.8.8']],
    ['of an interface, by NAT64', { 'hook.example': nat64 }, ['8.8.8.8']],
    ['of an interface, written otherwise', { 'hook.example': v6 }, ['2606:4700::1111']],
    ['that the public URL resolves to', { ...hook, [GATEWAY]: [PUBLIC] }, ['10.0.0.2']],
    ['one of those that it resolves to', { ...hook, [GATEWAY]: [...v6, ...mapped] }, []],
  ])('an address %s', async (_, addresses, interfaces) => {
    const options = { ...rule, resolve: byName(addresses), interfaces: () => interfaces };
    const resolving = resolveReceiver('https://hook.example/', options);
    await expect(resolving).rejects.toThrow(/which is the gateway's own/);
    const allowed = { ...options, allowPrivate: true };
    await expect(resolveReceiver('https://hook.example/', allowed)).resolves.toBeDefined();
  });

  test('an address that an interface has since a moment, and nobody connects to it', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, ''));
    const { logger, lines } = listeningLogger();
    store.add('https://hook.example:9/');
    let addresses: readonly string[] = [];
    const resolve: Resolve = async () => {
      addresses = ['8.8.8.8'];
      return [PUBLIC];
    };
    const interfaces = () => addresses;
    createSender(store, { logger, ...STRICT, resolve, interfaces }).wake();
    await until(() => store.postponed.length > 0);
    expect(lines.join('')).toContain("8.8.8.8, which is the gateway's own");
    expect(receiver.requests).toEqual([]);
  });

  test('but a public URL that does not resolve refuses nobody, unless it may later', async () => {
    const options = { ...rule, resolve: byName(hook), interfaces: () => ['10.0.0.2'] };
    await expect(resolveReceiver('https://hook.example/', options)).resolves.toEqual([PUBLIC]);
    const resolve: Resolve = async (host) => {
      if (host === GATEWAY) throw Object.assign(new Error(host), { code: 'EAI_AGAIN' });
      return [PUBLIC];
    };
    const later = resolveReceiver('https://hook.example/', { ...options, resolve });
    await expect(later).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  test('the interfaces of this machine are known as they are now', () => {
    expect(interfaceAddresses()).toContain('127.0.0.1');
  });
});

test('public addresses are handed on, private ones where the operator allows it', async () => {
  const options = { resolve: allOf([PUBLIC]), ...STRICT };
  await expect(resolveReceiver('https://hook.example/', options)).resolves.toEqual([PUBLIC]);
  const allowed = { ...STRICT, resolve: allOf([HERE]), allowPrivate: true };
  await expect(resolveReceiver('https://hook.example/', allowed)).resolves.toEqual([HERE]);
});

test('a name that changes its address after it was checked is not asked again', async () => {
  const store = new MemoryWebhooks();
  const receiver = await startReceiver((_, response) => send(response, 200, ''));
  store.add(receiver.origin.replace('127.0.0.1', 'hook.example'));
  const answers = [[HERE], [{ address: '127.0.0.2', family: 4 }]];
  let asked = 0;
  const resolve: Resolve = async () => answers[asked++] ?? [];
  createSender(store, { resolve }).wake();
  await until(() => store.rows.size === 0);
  expect(asked).toBe(1);
  // No resolver of this machine knows the name, so the connection used the checked address.
  expect(receiver.requests[0]?.headers.host).toMatch(/^hook\.example:/);
});

test('a connection is told the checked addresses, whatever name it asks for', () => {
  const told: unknown[] = [];
  const lookup = pinnedTo([PUBLIC, { address: '2606:4700::1111', family: 6 }]);
  lookup('other.example', { all: true }, (_, addresses) => told.push(addresses));
  lookup('other.example', {}, (...answer) => told.push(answer));
  expect(told).toEqual([
    [PUBLIC, { address: '2606:4700::1111', family: 6 }],
    [null, '8.8.8.8', 4],
  ]);
});

describe('over TLS', () => {
  test('the name is in the handshake, and in the certificate', async () => {
    const store = new MemoryWebhooks();
    const { names, port } = await startSecureReceiver();
    store.add(`https://hook.example:${port}/`);
    createSender(store, { resolve: allOf([HERE]), ca: HOOK_CERTIFICATE }).wake();
    await until(() => store.rows.size === 0);
    expect(names).toEqual([{ sni: 'hook.example', host: `hook.example:${port}` }]);
  });

  test.each([
    ['of another name', 'https://other.example', HOOK_CERTIFICATE],
    ['that nobody vouches for', 'https://hook.example', undefined],
  ])('a certificate %s is refused', async (_, origin, ca) => {
    const store = new MemoryWebhooks();
    const { names, port } = await startSecureReceiver();
    store.add(`${origin}:${port}/`);
    const trusted = ca === undefined ? {} : { ca };
    createSender(store, { resolve: allOf([HERE]), ...trusted }).wake();
    await until(() => store.postponed.length >= 1);
    expect(names).toEqual([]);
  });
});

async function startSecureReceiver() {
  const names: unknown[] = [];
  const server = createServer({ key: HOOK_KEY, cert: HOOK_CERTIFICATE }, (request, response) => {
    names.push({ sni: (request.socket as TLSSocket).servername, host: request.headers.host });
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  return { names, port: (server.address() as AddressInfo).port };
}
