import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { Behaviour } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import { silentCaller } from '../support/silent-caller.js';
import { until } from '../support/until.js';
import { chunkOf, HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { chat, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const STREAMS = 100;
const CHUNKS = 20;

/** Answers with chunks that contain the request's seed, one per turn of the event loop. */
const counting: Behaviour = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < CHUNKS; i++) {
    response.write(chunkOf(`${String(body['seed'])}:${i} `));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end(`${chunkOf('', 'stop')}data: [DONE]\n\n`);
};

it.each(STOCK_CLIENTS)(
  '100 concurrent streams have no cross-talk, read by $version',
  async (stock) => {
    const gateway = await startGateway();
    const fake = await startFakeOpenAi();
    onTestFinished(() => fake.close());
    await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: STREAMS }] });
    // No stream is answered before all have arrived, so that all run at the same time.
    fake.behave(async (request, response) => {
      await until(() => fake.requests.length === STREAMS);
      await counting(request, response);
    });
    const client = connect(stock.Sdk, gateway);
    const read = async (seed: number): Promise<string> => {
      let text = '';
      const request = chat({ stream: true as const, seed });
      for await (const { choices } of await client.chat.completions.create(request)) {
        text += choices[0]?.delta.content ?? '';
      }
      return text;
    };
    const texts = await Promise.all(Array.from({ length: STREAMS }, (_, seed) => read(seed)));
    for (const [seed, text] of texts.entries()) {
      const expected = Array.from({ length: CHUNKS }, (_, i) => `${seed}:${i} `);
      expect(text).toBe(expected.join(''));
    }
    expect(fake.maxInFlight).toBe(STREAMS);
  },
);

/** Streams without end, as fast as the agent reads, and counts the bytes. */
function endless(taken: { bytes: number }): Behaviour {
  const text = chunkOf('x'.repeat(4_000));
  function* pieces(): Generator<string> {
    for (;;) {
      taken.bytes += text.length;
      yield text;
    }
  }
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const source = Readable.from(pieces(), { objectMode: false });
    pipeline(source, response).catch(() => undefined);
  };
}

/**
 * Resolves with the number of bytes once it has not grown for 2 s: on a busy machine the sockets'
 * buffers fill in spurts.
 */
async function heldUp(taken: { readonly bytes: number }): Promise<number> {
  let last = 0;
  let changedAt = performance.now();
  await until(
    () => {
      if (taken.bytes !== last) changedAt = performance.now();
      last = taken.bytes;
      return last > 0 && performance.now() - changedAt > 2_000;
    },
    { timeoutMs: 15_000, what: 'the local server to be held up' },
  );
  return last;
}

it('one caller that stops reading slows nobody and costs at most its window', async () => {
  const gateway = await startGateway();
  const greedy = await startFakeOpenAi({ models: ['greedy'] });
  const fake = await startFakeOpenAi({ behaviour: counting });
  onTestFinished(async () => void (await Promise.all([greedy.close(), fake.close()])));
  const taken = { bytes: 0 };
  greedy.behave(endless(taken));
  const services = [{ baseUrl: greedy.baseUrl }, { baseUrl: fake.baseUrl, slots: 50 }];
  await gateway.startAgent({ services });

  silentCaller(gateway, { model: 'greedy', stream: true });
  const bytes = await heldUp(taken);
  // Each of its windows holds 256 KiB. The rest is in the sockets' own buffers, which hold up to 10
  // MiB in each direction. Without backpressure it would be hundreds of megabytes by now.
  expect(bytes).toBeLessThan(24 * 1024 * 1024);

  const startedAt = performance.now();
  const streams = Array.from({ length: 50 }, async (_, seed) => {
    const text = await (await post(gateway, chat({ stream: true, seed }))).text();
    return text.endsWith('data: [DONE]\n\n');
  });
  expect((await Promise.all(streams)).every((whole) => whole)).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(taken.bytes).toBe(bytes);
});

it('a caller that takes nothing for too long loses its stream, and the slot is free', async () => {
  const gateway = await startGateway({ stallMs: 200 });
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1 }] });
  fake.once(endless({ bytes: 0 }));
  const caller = silentCaller(gateway, { model: 'tiny', stream: true });
  await until(() => fake.aborts.length === 1);
  expect((await post(gateway, chat())).status).toBe(200);
  caller.resume();
  await until(() => caller.destroyed || caller.readableEnded);
});

it('a caller that is merely slow loses nothing', async () => {
  const gateway = await startGateway({ stallMs: 200, keepAliveMs: 50 });
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const held = new HeldAnswer();
  fake.once(held.behaviour);
  const opening = openStream(gateway);
  await held.asked();
  held.chunk('one ');
  const stream = await opening;
  // Silence of the local server does not count as a stall of the caller.
  const silentAt = performance.now();
  await until(() => performance.now() - silentAt > 450);
  held.chunk('two');
  held.finish();
  expect(await stream.all()).toContain('two');
});
