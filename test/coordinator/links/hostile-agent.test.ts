import { encodeMessage } from '@inference-gateway/shared/protocol/frames';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentCaller } from '../../support/silent-caller.js';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../../support/raw-agent.js';
import type { RawAgent } from '../../support/raw-agent.js';
import { until } from '../../support/until.js';

let gateway: TestGateway;
let hostile: RawAgent;
let honest: RawAgent;

/** The hostile agent serves `bad`, the honest one `m`; both have the same owner. */
beforeEach(async () => {
  gateway = await startGateway();
  const services = structuredClone(HELLO.services);
  for (const model of services[0]?.models ?? []) model.id = 'bad';
  hostile = await connectRawAgent(gateway.address, await gateway.anna.enroll('bad'), { services });
  honest = await connectRawAgent(gateway.address, await gateway.anna.enroll('good'));
});

const ask = (model: string) =>
  gateway.client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'hello' }],
  });

/** The hostile agent's link closed with this code, and the honest agent still serves. */
async function expectOnlyItsOwnEnd(code: number): Promise<void> {
  expect(await hostile.closed()).toBe(code);
  const call = ask('m');
  const open = await honest.nextOpen();
  honest.answer(open.stream, DOCUMENT);
  expect((await call).choices[0]?.message.content).toBe('ok');
  expect(honest.closeCode).toBeNull();
}

describe('only the link of an agent ends that sends', () => {
  it.each<[string, (agent: RawAgent) => void, number]>([
    ['a text frame that is no JSON', (agent) => agent.sendText('{'), 4000],
    ['a message with a missing field', (agent) => agent.sendText('{"t":"ACCEPT"}'), 4000],
    ['a wrong field with a long name in three-byte letters', sendLongName, 4000],
    ['a second HELLO', (agent) => agent.send(HELLO), 4000],
    [
      'a word on a stream that was never opened',
      (agent) => agent.send({ t: 'ACCEPT', stream: 9 }),
      4000,
    ],
    ['bytes on a stream that was never opened', (agent) => agent.data(9, 'x'), 4000],
    ['credit on a stream that was never opened', (agent) => agent.grant(9, 100), 4000],
    ['a binary frame of an unknown type', (agent) => agent.socket.send(Buffer.alloc(16, 9)), 4000],
    ['a message with bytes that belong to none', sendBytesWithAccept, 4000],
    ['a binary frame without a header', (agent) => agent.socket.send(Buffer.alloc(3)), 4000],
    ['a message of more than 256 KiB', (agent) => agent.socket.send(Buffer.alloc(300_000)), 1009],
    ['a control message of more than 64 KiB', sendLongControl, 4000],
    ['bad UTF-8', sendBadUtf8, 1007],
    ['endless fragments', sendFragments, 1008],
  ])('%s', async (_, attack, code) => {
    attack(hostile);
    await expectOnlyItsOwnEnd(code);
  });

  it('bytes before HEAD', async () => {
    const call = ask('bad').catch((error: unknown) => error);
    const open = await hostile.nextOpen();
    hostile.data(open.stream, 'x');
    await expectOnlyItsOwnEnd(4000);
    expect(await call).toMatchObject({ status: 502, code: 'provider_disconnected' });
  });

  it('a second HEAD', async () => {
    const call = ask('bad').catch((error: unknown) => error);
    const { stream } = await hostile.nextOpen();
    hostile.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    hostile.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    await expectOnlyItsOwnEnd(4000);
    expect(await call).toMatchObject({ status: 502 });
  });

  it('anything on a stream that it has ended', async () => {
    const call = ask('bad');
    const { stream } = await hostile.nextOpen();
    hostile.answer(stream, DOCUMENT);
    await call;
    hostile.data(stream, 'more');
    await expectOnlyItsOwnEnd(4000);
  });

  it('more than its credit, for the third time', async () => {
    for (let strike = 1; strike <= 3; strike++) {
      const caller = silentCaller(gateway, { model: 'bad', stream: true });
      const { stream } = await hostile.nextOpen();
      hostile.send({ t: 'HEAD', stream, status: 200, content_type: 'text/event-stream' });
      for (let i = 0; i < 200; i++) hostile.data(stream, EVENT);
      const reset = () =>
        hostile.messages.find((one) => one.t === 'RESET' && one.stream === stream);
      if (strike < 3) {
        await until(() => reset() !== undefined);
        expect(reset()).toMatchObject({ code: 'FLOW_CONTROL' });
        expect(hostile.closeCode).toBeNull();
        hostile.send({ t: 'RESET', stream, code: 'CANCELED' });
        caller.destroy();
      }
    }
    await expectOnlyItsOwnEnd(4005);
  });
});

/** An event that fills a whole frame. */
const EVENT = `data: {"x":"${'y'.repeat(65_000)}"}\n\n`;

function sendLongControl(agent: RawAgent): void {
  agent.sendText(JSON.stringify({ t: 'ACCEPT', stream: 1, padding: 'x'.repeat(70_000) }));
}

/** The name is part of the close reason, which has room for at most 123 bytes. */
function sendBytesWithAccept(agent: RawAgent): void {
  agent.socket.send(encodeMessage(9, '{"t":"ACCEPT","stream":9}', Buffer.of(1)));
}

function sendLongName(agent: RawAgent): void {
  const headers = { ['€'.repeat(200)]: 5 };
  agent.sendText(JSON.stringify({ t: 'HEAD', stream: 1, status: 200, content_type: 'x', headers }));
}

function sendBadUtf8(agent: RawAgent): void {
  agent.socket.send(Buffer.from([0xff, 0xfe, 0x7b]), { binary: false });
}

function sendFragments(agent: RawAgent): void {
  for (let i = 0; i < 40; i++) agent.socket.send('x', { fin: false });
}
