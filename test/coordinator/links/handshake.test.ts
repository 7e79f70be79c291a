import { newSecret } from '@inference-gateway/shared/ids';
import { CONNECT_PATH } from '@inference-gateway/shared/protocol/version';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO, RawAgent } from '../../support/raw-agent.js';
import { until } from '../../support/until.js';

/** Requests an upgrade by hand, and returns the refusal. */
function askUpgrade(
  gateway: TestGateway,
  headers: Record<string, string>,
  path = CONNECT_PATH,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    request(`${gateway.address}${path}`, { headers: { ...upgrade, ...headers } }, resolve)
      .on('upgrade', () => reject(new Error('was upgraded')))
      .on('error', reject)
      .end();
  });
}

const PROTOCOL = { 'sec-websocket-protocol': 'gw-agent.v1' };

describe('an upgrade is refused before 101', () => {
  it('with 401 for a token that nobody has', async () => {
    const gateway = await startGateway();
    const authorization = `Bearer ${newSecret('gwa')}`;
    const refused = await askUpgrade(gateway, { ...PROTOCOL, authorization });
    expect(refused.statusCode).toBe(401);
  });

  it('with 401 for an API key: it opens nothing else', async () => {
    const gateway = await startGateway();
    const authorization = `Bearer ${gateway.anna.key}`;
    expect((await askUpgrade(gateway, { ...PROTOCOL, authorization })).statusCode).toBe(401);
  });

  it('with 426 and the versions there are, for a version that is not', async () => {
    const gateway = await startGateway();
    const authorization = `Bearer ${await gateway.anna.enroll('pc')}`;
    const headers = { authorization, 'sec-websocket-protocol': 'gw-agent.v9' };
    const refused = await askUpgrade(gateway, headers);
    expect(refused.statusCode).toBe(426);
    expect(JSON.parse(await text(refused))).toMatchObject({ min: 1, max: 1 });
  });

  it('with 404 anywhere else', async () => {
    const gateway = await startGateway();
    expect((await askUpgrade(gateway, PROTOCOL, '/v1/chat/completions')).statusCode).toBe(404);
  });
});

describe('a link', () => {
  it('is welcomed with its limits and the name of its provider', async () => {
    const gateway = await startGateway();
    const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('den-pc'));
    expect(await agent.first('WELCOME')).toMatchObject({
      name: 'den-pc',
      ping_s: 15,
      dead_s: 40,
      heartbeat_s: 15,
      lease_s: 60,
      limits: { window_bytes: 262_144, max_streams: 1024 },
      resume: [],
    });
  });

  it('that begins with anything but HELLO is closed', async () => {
    const gateway = await startGateway();
    const agent = await new RawAgent(gateway.address, await gateway.anna.enroll('pc')).opened();
    agent.send({ t: 'ACCEPT', stream: 1 });
    expect(await agent.closed()).toBe(4000);
  });

  it('may send frames right behind HELLO', async () => {
    const gateway = await startGateway();
    const agent = await new RawAgent(gateway.address, await gateway.anna.enroll('pc')).opened();
    agent.send(HELLO);
    agent.send({ t: 'HEARTBEAT', seq: 7, slots: [], claims: [], accepts: 'all' });
    expect(await agent.first('HEARTBEAT_OK')).toMatchObject({ seq: 7 });
  });

  it('reset before it was authenticated harms nobody', async () => {
    const gateway = await startGateway();
    const { hostname, port } = new URL(gateway.address);
    for (let i = 0; i < 20; i++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      await new Promise<void>((done) => socket.once('connect', done));
      socket.write(
        `GET ${CONNECT_PATH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
          'Sec-WebSocket-Protocol: gw-agent.v1\r\n\r\n',
      );
      socket.resetAndDestroy();
    }
    expect((await gateway.fetch('/healthz')).status).toBe(200);
  });
});

describe('of two links of one agent', () => {
  it('the newer wins, and the older is told so', async () => {
    const gateway = await startGateway();
    const token = await gateway.anna.enroll('pc');
    const older = await connectRawAgent(gateway.address, token);
    const newer = await connectRawAgent(gateway.address, token);
    expect(await older.closed()).toBe(4003);
    const call = gateway.client.chat.completions.create({ model: 'm', messages: [USER] });
    const open = await newer.nextOpen();
    newer.answer(open.stream, DOCUMENT);
    expect((await call).choices[0]?.message.content).toBe('ok');
  });

  it('work on the older fails at once and goes to the newer', async () => {
    const gateway = await startGateway();
    const token = await gateway.anna.enroll('pc');
    const older = await connectRawAgent(gateway.address, token);
    const spare = await connectRawAgent(gateway.address, await gateway.anna.enroll('spare'));
    const call = gateway.client.chat.completions.create({ model: 'm', messages: [USER] });
    await until(() => older.messages.concat(spare.messages).some(({ t }) => t === 'OPEN'));
    const [first, second] = older.messages.some(({ t }) => t === 'OPEN')
      ? [older, spare]
      : [spare, older];
    await first.nextOpen();
    first.socket.terminate();
    const open = await second.nextOpen();
    second.answer(open.stream, DOCUMENT);
    expect((await call).choices[0]?.message.content).toBe('ok');
  });

  it('a second copy is refused while the first one still answers', async () => {
    const gateway = await startGateway();
    const token = await gateway.anna.enroll('pc');
    const first = await connectRawAgent(gateway.address, token);
    const copy = await new RawAgent(gateway.address, token).opened();
    copy.send({ ...HELLO, instance_id: 'instance-2' });
    expect(await copy.closed()).toBe(4008);
    expect(first.closeCode).toBeNull();
  });

  it('a restarted agent takes over from a link that answers no more', async () => {
    const gateway = await startGateway();
    const token = await gateway.anna.enroll('pc');
    const dead = await connectRawAgent(gateway.address, token);
    dead.socket.pause();
    const restarted = await new RawAgent(gateway.address, token).opened();
    restarted.send({ ...HELLO, instance_id: 'instance-2' });
    expect(await restarted.first('WELCOME')).toMatchObject({ name: 'pc' });
  });
});

const USER = { role: 'user' as const, content: 'hello' };
