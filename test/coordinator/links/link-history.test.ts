/** Why a provider went offline, as its owner and administrators read it. */
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from '../../support/gateway.js';
import { connectRawAgent } from '../../support/raw-agent.js';
import type { RawAgent } from '../../support/raw-agent.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const NAME = 'den-pc';

/** Of a socket that answers no ping. */
const DEAD_MS = 400;

test('each end of a link has its reason', async () => {
  const dataDir = await temporaryFolder();
  let gateway = await openGateway({ dataDir, pingMs: DEAD_MS / 4, deadMs: DEAD_MS });
  onTestFinished(() => gateway.stop());
  const { anna } = gateway;
  const uptime = async () => (await gateway.admin('provider.show', { provider: NAME })).uptime;
  const reasons = async () => (await uptime()).disconnections.map(({ reason }) => reason);
  const told = (...newest: string[]): Promise<unknown> =>
    until(async () => (await reasons()).slice(0, newest.length).join() === newest.join(), {
      what: newest.join(),
    });
  let token = await anna.enroll(NAME);
  const connect = (): Promise<RawAgent> => connectRawAgent(gateway.address, token);
  expect(await uptime()).toMatchObject({ known_since: null, disconnections: [] });

  (await connect()).socket.terminate();
  await told('connection_lost');
  (await connect()).socket.close(CLOSE.drained);
  await told('agent_stopped', 'connection_lost');
  (await connect()).sendText('{"t":"OPEN"');
  await told('link_error');
  (await connect()).socket.pause();
  await told('no_heartbeat');
  await connect();
  await connect();
  await told('replaced');
  await gateway.admin('provider.kick', { provider: NAME });
  await told('kicked', 'replaced');
  const online = await connect();
  const shown = await uptime();
  expect(shown.disconnections[0]?.back_at).toBeGreaterThan(shown.known_since ?? Infinity);
  expect(shown.days.at(-1)?.online_ms).toBeGreaterThan(0);
  await gateway.admin('user.disable', { member: 'Anna' });
  expect(await online.closed()).toBe(CLOSE.disabled);
  await told('owner_disabled');
  await gateway.admin('user.enable', { member: 'Anna' });

  await connect();
  const asked = { owner: 'Anna', name: null, expires_in_s: 60, replace: NAME };
  const join = await gateway.admin('token.create', asked);
  const headers = { authorization: `Bearer ${join.token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{}' };
  const enrolled = await fetch(`${gateway.address}/agent/v1/enroll`, init);
  ({ token } = (await enrolled.json()) as { token: string });
  await told('revoked', 'owner_disabled');

  await connect();
  await gateway.stop();
  gateway = await openGateway({ dataDir });
  await told('coordinator_stopped', 'revoked');
});
