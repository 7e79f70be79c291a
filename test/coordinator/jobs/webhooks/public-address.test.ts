import {
  isPublicAddress,
  refuseAddress,
} from '@inference-gateway/coordinator/jobs/webhooks/receiver';
import { describe, expect, test } from 'vitest';

const STRICT = { allowPrivate: false, publicUrl: null };

const PRIVATE: readonly (readonly [string, string])[] = [
  ['this network', '0.0.0.0'],
  ['this network, further on', '0.1.2.3'],
  ['private, 10/8', '10.0.0.1'],
  ['private, end of 172.16/12', '172.31.255.254'],
  ['private, 192.168/16', '192.168.178.1'],
  ["a carrier's NAT", '100.64.0.1'],
  ['loopback', '127.0.0.1'],
  ['loopback, further on', '127.255.255.254'],
  ['link-local, where clouds keep secrets', '169.254.169.254'],
  ['protocol assignments', '192.0.0.8'],
  ['documentation', '203.0.113.7'],
  ['6to4 relays', '192.88.99.1'],
  ['benchmarks', '198.19.0.1'],
  ['multicast', '224.0.0.251'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback, IPv6', '::1'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
  ['IPv4-mapped private, in hexadecimal', '::ffff:a00:1'],
  ['IPv4-compatible loopback', '::7f00:1'],
  ['IPv4-translated loopback', '::ffff:0:7f00:1'],
  ['unique local', 'fd12:3456:789a::1'],
  ['link-local, IPv6', 'fe80::1'],
  ['link-local with its zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast, IPv6', 'ff02::1'],
  ['discard', '100::1'],
  ['documentation, IPv6', '2001:db8::1'],
  ['Teredo', '2001:0:7f00:1::1'],
  ['6to4 of loopback', '2002:7f00:1::1'],
  ['6to4 of a private address', '2002:c0a8:101::1'],
  ['NAT64 of loopback', '64:ff9b::127.0.0.1'],
  ['NAT64 of a private address', '64:ff9b::a00:1'],
  ["a network's own NAT64", '64:ff9b:1::808:808'],
  ['what is assigned to nobody', '4000::1'],
];

describe('not public is', () => {
  test.each(PRIVATE)('%s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['', 'example.org', '0x7f.1', '8.8.8.8 '])('what is no address: %j', (written) => {
    expect(isPublicAddress(written)).toBe(false);
  });
});

describe('public is', () => {
  test.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('a submission is refused whose URL names', () => {
  const hosts = PRIVATE.map(([, address]) => address)
    // A URL cannot contain a zone.
    .filter((address) => !address.includes('%'))
    .map((address) => (address.includes(':') ? `[${address}]` : address));

  test.each([
    ...hosts,
    'localhost',
    'LOCALHOST.',
    'api.localhost',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.0.0.1.',
  ])('%s', (host) => {
    const url = `http://${host}:8080/hook?token=in-the-query`;
    const refused = {
      code: 'invalid_value',
      param: 'webhook.url',
      message: expect.stringMatching(/not a public address\. .*GATEWAY_WEBHOOK_PRIVATE/),
    };
    expect(() => refuseAddress(url, STRICT)).toThrow(expect.objectContaining(refused));
    expect(() => refuseAddress(url, STRICT)).not.toThrow(/in-the-query/);
    expect(() => refuseAddress(url, { ...STRICT, allowPrivate: true })).not.toThrow();
  });

  test.each(['https://8.8.4.4/', 'http://[::ffff:8.8.4.4]/', 'https://GATEWAY.example.org.:8443/'])(
    "the gateway's own machine: %s",
    (url) => {
      const rule = {
        allowPrivate: false,
        publicUrl: 'https://gateway.example.org',
        interfaces: () => ['8.8.4.4'],
      };
      expect(() => refuseAddress(url, rule)).toThrow(/which is this gateway itself/);
      expect(() => refuseAddress(url, { ...rule, allowPrivate: true })).not.toThrow();
      expect(() => refuseAddress('https://example.org/', rule)).not.toThrow();
    },
  );

  test.each(['example.org', '8.8.8.8', '[2606:4700:4700::1111]', 'localhost.example.org'])(
    'but not %s',
    (host) => {
      expect(() => refuseAddress(`https://${host}/hook`, STRICT)).not.toThrow();
    },
  );
});
