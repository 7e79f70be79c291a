import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { chat, post } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO, RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

it('an agent that leaves before its place is free is not online afterwards', async () => {
  const gateway = await startGateway();
  const token = await gateway.anna.enroll('pc');
  const hung = await connectRawAgent(gateway.address, token);
  hung.socket.pause();
  const second = await new RawAgent(gateway.address, token).opened();
  second.send({ ...HELLO, instance_id: 'instance-2' });
  second.socket.terminate();
  // A third one waits as long for the first, and shows when the second had its turn.
  const third = await new RawAgent(gateway.address, token).opened();
  third.send({ ...HELLO, instance_id: 'instance-3' });
  await third.first('WELCOME');
  third.socket.terminate();
  await until(async () => (await gateway.client.models.list()).data.length === 0);
});

it('the word of an agent that hung for a while is late, and ends no other work', async () => {
  const gateway = await startGateway();
  const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('pc'));
  const leaving = new AbortController();
  const left = post(gateway, chat({ model: 'm' }), { signal: leaving.signal }).catch(() => null);
  const late = await agent.nextOpen();
  leaving.abort();
  await left;
  // Four slots, of which one is freed only after 15 s without a word.
  const calls = [1, 2, 3, 4].map(() => post(gateway, chat({ model: 'm' })));
  const opened = () => agent.messages.filter(({ t }) => t === 'OPEN').length;
  await until(() => opened() === 4, { what: 'an OPEN for each free slot' });
  const streams = [await agent.nextOpen(), await agent.nextOpen(), await agent.nextOpen()];
  await until(() => opened() === 5, { timeoutMs: 20_000, what: 'an OPEN for the slot given up' });
  streams.push(await agent.nextOpen());
  agent.send({ t: 'RESET', stream: late.stream, code: 'CANCELED' });
  for (const { stream } of streams) agent.answer(stream, DOCUMENT);
  for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
  expect(agent.closeCode).toBeNull();
});

it('a refused upgrade is closed, even where the other end keeps its half open', async () => {
  const gateway = await startGateway();
  const { port } = new URL(gateway.address);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let isReset = false;
  socket.on('error', () => (isReset = true)).resume();
  socket.write(
    'GET /agent/v1/connect HTTP/1.1\r\nHost: x\r\n' +
      'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  await once(socket, 'end');
  // Only an end that has closed wholly answers with a reset.
  await until(() => {
    if (!isReset) socket.write('x');
    return isReset;
  });
});
