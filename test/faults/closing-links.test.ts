/** Links that are on their way out: nothing is sent on them, and no drain waits for them. */
import { expect, it } from 'vitest';
import { submitted } from '../api/job-calls.js';
import { administer } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import { connectJobAgent, offerOf } from '../support/job-agent.js';
import { HELLO, RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';

/** It reads nothing any more: no close is answered, and the link ends 3 s later. */
function hang({ socket }: RawAgent): void {
  (socket as unknown as { _socket: { pause(): void } })._socket.pause();
}

it('no job is claimed for a link that is closing', async () => {
  const gateway = await startGateway();
  const { agent } = await connectJobAgent(gateway);
  hang(agent);
  await administer(gateway, 'provider.kick', { provider: 'pc' });
  await submitted(gateway, { model: 'm' });
  await until(async () => (await gateway.client.models.list()).data.length === 0);
  const rows = query(gateway, 'select status, last_claim_id from jobs');
  expect(rows).toEqual([{ status: 'QUEUED', last_claim_id: null }]);
});

it('a drain takes in no agent that comes back with a job', async () => {
  const gateway = await startGateway();
  const { agent, token } = await connectJobAgent(gateway);
  await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  const other = await connectJobAgent(gateway, { name: 'other' });
  hang(other.agent);
  agent.socket.terminate();
  const back = await new RawAgent(gateway.address, token).opened();
  const stopped = gateway.stop();
  await until(() => isRefused(gateway.address, token));
  back.send({ ...HELLO, instance_id: 'pc', resume: [offerOf(open, 'running')] });
  await stopped;
  expect(await back.closed()).toBe(1012);
  expect(back.messages).toEqual([]);
});

/** Whether the coordinator takes no new link any more. */
async function isRefused(address: string, token: string): Promise<boolean> {
  const late = new RawAgent(address, token);
  await until(() => late.socket.readyState !== late.socket.CONNECTING);
  return late.socket.readyState !== late.socket.OPEN;
}
