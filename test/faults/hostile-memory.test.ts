import { newSecret } from '@inference-gateway/shared/ids';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { MIB, rssOf } from '../support/memory.js';
import { expectOk, startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import { HELLO, RawAgent } from '../support/raw-agent.js';

const ROUNDS = 5;

/** Enrolls without an agent program and returns the token. */
async function rawToken(gateway: ProcessGateway, name: string): Promise<string> {
  const owner = ['token', 'create', '--owner', 'anna@example.org'];
  const joinToken = expectOk(await gateway.admin(...owner)).stdout.trim();
  const response = await fetch(`${gateway.url}/agent/v1/enroll`, {
    method: 'POST',
    headers: { authorization: `Bearer ${joinToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  return ((await response.json()) as { token: string }).token;
}

const ATTACKS: ((agent: RawAgent) => void)[] = [
  (agent) => agent.sendText('{'),
  (agent) => agent.socket.send(Buffer.alloc(300_000)),
  (agent) => agent.socket.send(Buffer.from([0xff, 0xfe]), { binary: false }),
  (agent) => agent.data(99, Buffer.alloc(65_536)),
  (agent) => {
    for (let i = 0; i < 40; i++) agent.socket.send('x', { fin: false });
  },
  (agent) => agent.socket.send(Buffer.alloc(200_000, 0x7b), { binary: false, fin: false }),
];

it.runIf(process.platform === 'linux')(
  'hundreds of hostile links leave the memory of the coordinator flat',
  { timeout: 90_000 },
  async () => {
    const { gateway, coordinator } = await startProcessGateway([]);
    const token = await rawToken(gateway, 'hostile-pc');
    const pid = coordinator.child.pid ?? 0;
    const attack = async (links: number): Promise<void> => {
      for (let i = 0; i < links; i++) {
        const agent = await new RawAgent(gateway.url, token).opened();
        if (i % 2 === 0) agent.send(HELLO);
        ATTACKS[i % ATTACKS.length]?.(agent);
        if (i % ATTACKS.length === 5) agent.socket.terminate();
        await agent.closed();
      }
    };
    // V8's heap and the allocator's pools reach their level within 700 to 1,900 links, by the
    // version of Node; what is lost with each link grows in every round.
    let grown = Infinity;
    for (let round = 0; round < ROUNDS && grown >= 16 * MIB; round++) {
      const before = await rssOf(pid);
      await attack(480);
      grown = (await rssOf(pid)) - before;
    }
    expect(grown).toBeLessThan(16 * MIB);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  },
);

it('half-open connections and wrong tokens cost nobody their service', async () => {
  const { gateway } = await startProcessGateway([]);
  const sockets = Array.from({ length: 200 }, () => connect(gateway.port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.write('GET /agent/v1/connect HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n');
  }
  const wrong = Array.from({ length: 50 }, () => new RawAgent(gateway.url, newSecret('gwa')));
  await Promise.all(wrong.map((agent) => agent.closed()));
  expect((await gateway.client.models.list()).data).toEqual([]);
  for (const socket of sockets) socket.destroy();
});
