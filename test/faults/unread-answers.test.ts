import { expect, it } from 'vitest';
import { RawCaller } from '../api/raw-caller.js';
import { chat, post } from '../api/requests.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;

it('an answer that nobody fetches is not kept for ever', async () => {
  const gateway = await startGateway({ stallMs: 300 });
  const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('pc'));
  const caller = new RawCaller(gateway).send(chat({ model: 'm' }));
  caller.socket.pause();
  const { stream } = await agent.nextOpen();
  agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
  const document = JSON.stringify({ text: 'x'.repeat(20 * MIB) });
  for (let sent = 0; sent < document.length; sent += 65_536) {
    const needed = Math.min(sent + 65_536, document.length);
    await until(() => 262_144 + (agent.granted.get(stream) ?? 0) >= needed);
    agent.data(stream, document.slice(sent, sent + 65_536));
  }
  agent.send({ t: 'END', stream, ok: true });
  // Nothing is visible while nothing is read; afterwards the answer breaks off.
  const end = performance.now() + 1_500;
  await until(() => performance.now() > end);
  caller.socket.resume();
  await until(() => caller.ended || caller.reset || caller.socket.closed);
  expect(caller.received.length).toBeLessThan(document.length);
});

it('an endless page instead of an answer leaves no connection to the local server', async () => {
  const gateway = await startGateway();
  await using server = await startFakeOpenAi();
  server.behave((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const timer = setInterval(() => response.write(`<html>${'x'.repeat(300_000)}`), 10);
    response.on('close', () => clearInterval(timer));
  });
  await gateway.startAgent({ services: [{ baseUrl: server.baseUrl }] });
  const response = await post(gateway, chat({ stream: true }));
  expect(response.status).toBe(502);
  await until(() => server.inFlight === 0, { what: 'the end of the connection' });
});
