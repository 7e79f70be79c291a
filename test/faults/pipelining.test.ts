import { expect, it } from 'vitest';
import { chat, post } from '../api/requests.js';
import { RawCaller } from '../api/raw-caller.js';
import { startGateway } from '../support/gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
const padded = (model: string) => chat({ model, padding: 'x'.repeat(0.9 * MIB) });

it('a caller that leaves ends all requests of its connection, and frees their memory', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: 2 * MIB });
  const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('pc'));
  for (let round = 1; round <= 3; round++) {
    const caller = new RawCaller(gateway).send(padded('m')).send(padded('m'));
    const opens = [await agent.nextOpen(), await agent.nextOpen()];
    caller.socket.destroy();
    const resets = () => agent.messages.filter(({ t }) => t === 'RESET');
    await until(() => resets().length === 2 * round, { what: 'a RESET for both' });
    for (const { stream } of opens) agent.send({ t: 'RESET', stream, code: 'CANCELED' });
  }
  expect(resetCodes(agent.messages)).toEqual(['CALLER_GONE']);
  expect((await post(gateway, padded('nobody'))).status).toBe(404);
});

function resetCodes(messages: readonly { t: string; code?: string }[]): unknown[] {
  return [...new Set(messages.filter(({ t }) => t === 'RESET').map(({ code }) => code))];
}
