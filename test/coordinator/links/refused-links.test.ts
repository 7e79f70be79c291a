/** The token is looked up before HELLO: changes to its provider in between must count too. */
import { expect, it } from 'vitest';
import { modelsOf } from '../../api/sharing-stage.js';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { HELLO, RawAgent, connectRawAgent } from '../../support/raw-agent.js';
import { until } from '../../support/until.js';

const NAME = 'den-pc';

/** Accepted by its token; has not sent HELLO yet. */
async function admitted(gateway: TestGateway): Promise<RawAgent> {
  const token = await gateway.anna.enroll(NAME);
  return new RawAgent(gateway.address, token).opened();
}

/** Enrolls another machine in the provider's place; returns its token. */
async function replace(gateway: TestGateway): Promise<string> {
  const asked = { owner: 'Anna', name: null, expires_in_s: 60, replace: NAME };
  const { token } = await gateway.admin('token.create', asked);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{}' };
  const response = await fetch(`${gateway.address}/agent/v1/enroll`, init);
  return ((await response.json()) as { token: string }).token;
}

it('the holder of the old token cannot hold a link ready for when it is replaced', async () => {
  const gateway = await startGateway();
  const thief = await admitted(gateway);
  const token = await replace(gateway);
  thief.send({ ...HELLO, instance_id: 'thief' });
  expect(await thief.closed()).toBe(4001);
  const owner = await connectRawAgent(gateway.address, token, { instance_id: 'owner' });
  expect(owner.messages.map(({ t }) => t)).toContain('WELCOME');
});

it('the agent of a member who is disabled before its HELLO is refused', async () => {
  const gateway = await startGateway();
  const agent = await admitted(gateway);
  await gateway.admin('user.disable', { member: 'Anna' });
  agent.send(HELLO);
  expect(await agent.closed()).toBe(4009);
});

it('a member who is enabled again has their agent back', async () => {
  const gateway = await startGateway();
  const token = await gateway.anna.enroll(NAME);
  await gateway.admin('user.disable', { member: 'Anna' });
  await gateway.admin('user.enable', { member: 'Anna' });
  const agent = await connectRawAgent(gateway.address, token);
  expect(agent.closeCode).toBeNull();
});

it('a provider that is removed before the first HELLO of its agent is not online', async () => {
  const gateway = await startGateway();
  const agent = await admitted(gateway);
  await gateway.admin('provider.remove', { provider: NAME });
  agent.send(HELLO);
  expect(await agent.closed()).toBe(4001);
});

it('nor is one that is removed while an earlier link is asked whether it still lives', async () => {
  const gateway = await startGateway({ reconnectWaitMs: 1 });
  const token = await gateway.anna.enroll(NAME);
  const first = await connectRawAgent(gateway.address, token, { instance_id: 'first' });
  // It reads nothing, so it answers no ping.
  first.socket.pause();
  const second = await new RawAgent(gateway.address, token).opened();
  second.send({ ...HELLO, instance_id: 'second' });
  // Its SERVICES are processed after its HELLO: SERVICES_OK is sent even before WELCOME.
  second.send({ t: 'SERVICES', rev: 2, services: HELLO.services });
  await second.first('SERVICES_OK');
  await gateway.admin('provider.remove', { provider: NAME });
  await until(() => second.closeCode !== null, { what: 'the second link to be refused' });
  expect(second.closeCode).toBe(4001);
  const caller = { fetch: (path: string, init?: RequestInit) => gateway.fetch(path, init) };
  expect(await modelsOf(caller)).toEqual([]);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const headers = { 'content-type': 'application/json' };
  const call = await gateway.fetch('/v1/chat/completions', { method: 'POST', headers, body });
  expect(call.status).toBe(404);
});
