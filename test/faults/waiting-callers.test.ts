import { beforeEach, expect, it } from 'vitest';
import { openStream } from '../api/open-stream.js';
import { chat, failureOf, post } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent, HELLO } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let agent: RawAgent;
let running: Promise<Response>;

/** One slot, and a call that has it. */
beforeEach(async () => {
  gateway = await startGateway({ reconnectWaitMs: 200, earlyHeadersMs: 50, drainMs: 300 });
  const services = structuredClone(HELLO.services);
  for (const service of services) service.slots = 1;
  const token = await gateway.anna.enroll('pc');
  agent = await connectRawAgent(gateway.address, token, { services });
  running = post(gateway, chat({ model: 'm' }));
  await agent.nextOpen();
});

/** Resolves after the wait for a reconnection that began with the call's own wait. */
async function outwait(): Promise<void> {
  const end = performance.now() + 400;
  await until(() => performance.now() > end);
}

it('a call in line is told soon that the provider has gone, whenever that happens', async () => {
  const waiting = post(gateway, chat({ model: 'm' }));
  await outwait();
  agent.socket.terminate();
  expect(await failureOf(await waiting)).toMatchObject({ status: 404, code: 'model_offline' });
  expect((await running).status).toBe(502);
});

it('calls in line are told that the coordinator stops: a stream by its last event', async () => {
  const plain = post(gateway, chat({ model: 'm' }));
  // Its headers go out after a while in line, in which the other one is, too.
  const stream = await openStream(gateway, { model: 'm' });
  const stopped = gateway.stop();
  expect(await failureOf(await plain)).toMatchObject({ status: 503, code: 'shutting_down' });
  expect(await stream.failure()).toMatchObject({ code: 'shutting_down' });
  expect((await running).status).toBe(502);
  await stopped;
});
