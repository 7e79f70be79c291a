import { expect, it } from 'vitest';
import { RawCaller } from '../api/raw-caller.js';
import { startGateway } from '../support/gateway.js';

/** Each of these made the reader of paths throw, or return no path at all. */
const TARGETS = [
  'http://[::1/',
  'http://a:99999999/',
  'http://%/',
  'http://',
  'foo://?x',
  '*',
  '//][#{@:',
  '//.@a[#',
  '/v1/models\u00a0//x',
];

it('a target that no parser takes is an unknown URL, and harms nobody else', async () => {
  const gateway = await startGateway();
  for (const target of TARGETS) {
    const caller = new RawCaller(gateway);
    const status = await caller.head(`GET ${target}`, {}).status();
    expect([400, 401, 404], target).toContain(status);
  }
  expect((await gateway.fetch('/healthz')).status).toBe(200);
});

it('a target that names the whole URL, as proxies send it, reaches its route', async () => {
  const gateway = await startGateway();
  const caller = new RawCaller(gateway);
  const authorization = `Bearer ${gateway.anna.key}`;
  caller.head('GET http://gateway.example.org/v1//models/?x=1', { authorization });
  expect(await caller.status()).toBe(200);
});
