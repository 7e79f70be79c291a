import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { RawCaller } from './raw-caller.js';
import { until } from '../support/until.js';
it.each([['503', 413, { maxJsonBytes: 200_000, maxBodyMemoryBytes: 200_000 }]])('keepalive after %s', async () => {
  const gateway = await startGateway({ maxJsonBytes: 200_000, maxBodyMemoryBytes: 100_000 });
  const caller = new RawCaller(gateway);
  caller.post(gateway.anna.key, { 'content-length': 190_000 });
  caller.socket.write('x'.repeat(190_000));
  expect(await caller.status()).toBe(503);
  caller.received = '';
  caller.head('GET /v1/models', { authorization: `Bearer ${gateway.anna.key}` });
  expect(await caller.status()).toBe(200);
});
it('keepalive after multipart', async () => {
  const gateway = await startGateway();
  const caller = new RawCaller(gateway);
  caller.head('POST /v1/audio/transcriptions', { authorization: `Bearer ${gateway.anna.key}`, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 190_000 });
  const start = '--b\r\n:bad\r\n\r\n';
  caller.socket.write(start + 'x'.repeat(190_000 - start.length));
  expect(await caller.status()).toBe(400);
  console.log(caller.received);
  caller.received = '';
  caller.head('GET /v1/models', { authorization: `Bearer ${gateway.anna.key}` });
  expect(await caller.status()).toBe(200);
});
