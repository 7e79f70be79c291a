/** Calls whose request and answer pass the link in one frame each. */
import { beforeEach, expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { connectRawAgent, DOCUMENT } from '../../support/raw-agent.js';
import type { RawAgent } from '../../support/raw-agent.js';

let gateway: TestGateway;
let agent: RawAgent;

beforeEach(async () => {
  gateway = await startGateway();
  const token = await gateway.anna.enroll('pc');
  agent = await connectRawAgent(gateway.address, token, { features: ['message-frames'] });
});

const ask = (content = 'hello') =>
  gateway.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });

test('a short request comes with its OPEN, and is answered in one frame', async () => {
  const call = ask();
  const open = await agent.nextOpen(false);
  // Its body is there already.
  expect(agent.bodies.get(open.stream)).toHaveLength(open.body?.bytes ?? -1);
  expect(await agent.requestOf(open)).toMatchObject({ model: 'm' });
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  agent.answerInOneFrame(open.stream, DOCUMENT, { usage });
  expect((await call).choices[0]?.message.content).toBe('ok');
  expect(agent.closeCode).toBeNull();
});

test('a long request follows its OPEN, and a later answer may come in pieces', async () => {
  const call = ask('x'.repeat(20_000));
  const open = await agent.nextOpen(false);
  expect(await agent.requestOf(open)).toMatchObject({ model: 'm' });
  agent.answer(open.stream, DOCUMENT);
  expect((await call).choices[0]?.message.content).toBe('ok');
});

test("a local server's error comes in one frame, too", async () => {
  const call = ask().catch((error: unknown) => error);
  const open = await agent.nextOpen(false);
  const error = { message: 'too long', type: 'invalid_request_error' };
  agent.answerInOneFrame(open.stream, { error }, { status: 400 });
  expect(await call).toMatchObject({ status: 400 });
});

test.each([
  ['an answer of nothing', ''],
  ['an answer that is no document', 'not JSON'],
])('%s is the fault of its provider', async (_, document) => {
  const call = ask().catch((error: unknown) => error);
  const open = await agent.nextOpen(false);
  agent.answerInOneFrame(open.stream, document, { content_type: 'text/plain' });
  expect(await call).toMatchObject({ status: 502 });
  expect(agent.closeCode).toBeNull();
});

test('a second answer on a stream ends the link', async () => {
  const call = ask();
  const open = await agent.nextOpen(false);
  agent.answerInOneFrame(open.stream, DOCUMENT);
  agent.answerInOneFrame(open.stream, DOCUMENT);
  await call;
  expect(await agent.closed()).toBe(4000);
});

test('an answer whose head came before ends the link', async () => {
  const call = ask().catch((error: unknown) => error);
  const open = await agent.nextOpen(false);
  agent.send({ t: 'HEAD', stream: open.stream, status: 200, content_type: 'application/json' });
  agent.answerInOneFrame(open.stream, DOCUMENT);
  expect(await agent.closed()).toBe(4000);
  expect(await call).toMatchObject({ status: 502 });
});
