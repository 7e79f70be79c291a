import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawCaller } from '../api/raw-caller.js';
import { CHAT, chat, failureOf, post } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import { startProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;

describe.runIf(process.platform === 'linux')('the memory of the coordinator stays small', () => {
  it('where a body comes one byte at a time', { timeout: 60_000 }, async () => {
    const { gateway, coordinator } = await startProcessGateway([]);
    const before = await rssOf(coordinator.child.pid);
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const bytes = '1\r\n \r\n'.repeat(10_000);
    for (let sent = 0; sent < MIB; sent += 10_000) {
      if (!socket.write(bytes)) await once(socket, 'drain');
    }
    socket.write('0\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('invalid_json');
    expect((await rssOf(coordinator.child.pid)) - before).toBeLessThan(80 * MIB);
  });

  it('where everything in a body is wrong', { timeout: 60_000 }, async () => {
    const { gateway, coordinator } = await startProcessGateway([]);
    const before = await rssOf(coordinator.child.pid);
    const ones = `[${'1,'.repeat(2 * MIB)}1]`;
    for (const body of [
      `{"model":"m","messages":${ones}}`,
      `{"model":"m","messages":[{"role":"user","content":${ones}}]}`,
      `{"model":"m","messages":[{"role":"user","content":"x"}],"stop":${ones}}`,
    ]) {
      const response = await fetch(gateway.url + CHAT, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      });
      expect(await failureOf(response)).toMatchObject({ status: 400, code: 'invalid_type' });
    }
    expect((await rssOf(coordinator.child.pid)) - before).toBeLessThan(300 * MIB);
  });
});

it('a body that is nested too deeply is the fault of its caller', async () => {
  const gateway = await startGateway();
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const unknownField = `{"model":"m","messages":[{"role":"user","content":"x"}],"extra":${deep}}`;
  const inUnknown = await failureOf(await post(gateway, unknownField));
  expect(inUnknown).toMatchObject({ status: 400, code: 'invalid_json' });
  const inKnown = await failureOf(await post(gateway, `{"model":${deep}}`));
  expect(inKnown).toMatchObject({ status: 400, code: 'invalid_type', param: 'model' });
});

it('strangers who enrol cannot use up the memory for the bodies of callers', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: MIB });
  const strangers = Array.from({ length: 4 }, () => {
    const headers = { authorization: 'Bearer gwj_x', 'content-length': 300_000 };
    const stranger = new RawCaller(gateway).head('POST /agent/v1/enroll', headers);
    stranger.socket.write('x'.repeat(299_000));
    return stranger;
  });
  for (const stranger of strangers) expect(await stranger.status()).toBe(413);
  const response = await post(gateway, chat({ padding: 'x'.repeat(0.9 * MIB) }));
  expect(response.status).toBe(404);
});

async function rssOf(pid: number | undefined): Promise<number> {
  const status = await until(() => readFile(`/proc/${pid}/status`, 'utf8'));
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
