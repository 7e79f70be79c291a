import { onTestFinished, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { filesBelow } from '../support/open-library.js';
import { picture } from '../support/pictures.js';
import type { RawAgent } from '../support/raw-agent.js';
import { dieAfter, make, sendFile, SPEECH, startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';
import { usageOf, usageRows } from '../support/usage-rows.js';
import { bytesOf, draw, listAssets, speak } from './media-calls.js';
import { failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

/** `asked` resolves with the agent that gets the work first; later, with the other one. */
async function twoAgents(gateway: TestGateway, type: 'tts' | 'image') {
  const agents = [
    await connectMediaAgent(gateway, { type, name: 'a-pc' }),
    await connectMediaAgent(gateway, { type, name: 'b-pc' }),
  ];
  const asked = (): Promise<RawAgent> => until(() => agents.find((agent) => agent.hasOpen));
  return { asked };
}

async function twoStudios(gateway: TestGateway): Promise<Studio[]> {
  const types = ['tts'] as const;
  const studios = [
    await startStudio(gateway, { name: 'a-pc', types }),
    await startStudio(gateway, { name: 'b-pc', types }),
  ];
  onTestFinished(async () => {
    await Promise.all(studios.map(({ fake }) => fake.close()));
  });
  return studios;
}

/** One asset, one file and no draft: nothing is left of the provider that failed. */
async function expectOneKept(gateway: TestGateway): Promise<void> {
  expect(await listAssets(gateway)).toHaveLength(1);
  await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
}

async function expectNothingKept(gateway: TestGateway): Promise<void> {
  await until(async () => (await filesBelow(gateway.dataDir)).length === 0);
  expect(await listAssets(gateway)).toEqual([]);
}

describe('until the first byte has been forwarded, a failed provider is replaced', () => {
  it.each([
    ['answers an error', 'error'],
    ['answers HTML', 'html'],
    ['dies before its first byte', 'death'],
    ['dies after too few bytes to tell what they are', 'start'],
  ])('where the local server %s', async (_, failing) => {
    const gateway = await startGateway();
    const studios = await twoStudios(gateway);
    const fail = {
      error: sendFile('application/json', '{"error": {"message": "out of memory"}}'),
      html: sendFile('audio/wav', '<!doctype html><h1>Oops</h1>'),
      death: dieAfter(Buffer.alloc(0)),
      start: dieAfter(SPEECH.subarray(0, 6)),
    }[failing as 'error' | 'html' | 'death' | 'start'];
    let calls = 0;
    for (const { fake } of studios) {
      fake.behave((request, response) => (calls++ === 0 ? fail : make)(request, response));
    }
    const response = await speak(gateway);
    expect(response.headers.get('x-attempts')).toBe('2');
    expect(await bytesOf(response)).toEqual(SPEECH);
    expect(studios.map(({ fake }) => fake.requests.length)).toEqual([1, 1]);
    await expectOneKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({ attempts: 2, audioMs: 500 });
  });

  it('in the middle of an image, because none of its bytes is out yet', async () => {
    const gateway = await startGateway();
    const { asked } = await twoAgents(gateway, 'image');
    const answer = draw(gateway, { model: 'm', n: 2 });
    const first = await asked();
    const { stream } = await first.nextOpen();
    first.mediaHead(stream);
    first.part(stream);
    await first.bytes(stream, picture());
    first.part(stream, { index: 1 });
    await first.bytes(stream, picture({ seed: 1 }).subarray(0, 50));
    await until(async () => (await filesBelow(gateway.dataDir)).length === 2);
    first.socket.terminate();
    const second = await asked();
    await second.media((await second.nextOpen()).stream, [{ bytes: picture({ seed: 2 }) }]);
    const response = await answer;
    expect(response.headers.get('x-attempts')).toBe('2');
    expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(1);
    await expectOneKept(gateway);
    expect((await usageOf(gateway, response)).images).toBe(1);
  });

  it('in the middle of a WAV that is held until it is whole', async () => {
    const gateway = await startGateway();
    const { asked } = await twoAgents(gateway, 'tts');
    const answer = speak(gateway, { model: 'm' });
    const first = await asked();
    const { stream } = await first.nextOpen();
    first.mediaHead(stream);
    first.part(stream);
    const unknown = Buffer.from(SPEECH);
    unknown.writeUInt32LE(0xffffffff, 40);
    await first.bytes(stream, unknown.subarray(0, 8_000));
    await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
    first.send({ t: 'RESET', stream, code: 'LOCAL_ERROR', message: 'out of memory' });
    const second = await asked();
    await second.media((await second.nextOpen()).stream, [{ bytes: SPEECH }]);
    const response = await answer;
    expect(await bytesOf(response)).toEqual(SPEECH);
    await expectOneKept(gateway);
  });

  it('by up to two others, and nothing of any of them is kept', async () => {
    const gateway = await startGateway();
    const studios = [...(await twoStudios(gateway))];
    const third = await startStudio(gateway, { name: 'c-pc', types: ['tts'] });
    const fourth = await startStudio(gateway, { name: 'd-pc', types: ['tts'] });
    studios.push(third, fourth);
    for (const { fake } of studios) fake.behave(sendFile('audio/wav', '<html>out of order</html>'));
    const response = await speak(gateway);
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 502, code: 'provider_error', retry: 'false' });
    expect(studios.map(({ fake }) => fake.requests.length).toSorted((a, b) => a - b)).toEqual([
      0, 1, 1, 1,
    ]);
    await expectNothingKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({ attempts: 3, outcome: 'failed' });
    await Promise.all([third.fake.close(), fourth.fake.close()]);
  });
});

/** Duration of the first 8,000 bytes of speech: 44 bytes of header, then 32 bytes a ms. */
const SENT_MS = Math.round((8_000 - 44) / 32);

describe('after bytes went out', () => {
  it('the caller’s connection is cut, nobody else is asked, and nothing is kept', async () => {
    const gateway = await startGateway();
    const studios = await twoStudios(gateway);
    for (const { fake } of studios) fake.behave(dieAfter(SPEECH.subarray(0, 8_000)));
    const response = await speak(gateway);
    expect(response.status).toBe(200);
    await expect(bytesOf(response)).rejects.toThrow('terminated');
    expect(studios.reduce((sum, { fake }) => sum + fake.requests.length, 0)).toBe(1);
    await expectNothingKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({
      outcome: 'failed',
      errorCode: 'provider_error',
      audioMs: SENT_MS,
    });
  });

  it('the same where the whole link is lost', async () => {
    const gateway = await startGateway();
    const { asked } = await twoAgents(gateway, 'tts');
    const answer = speak(gateway, { model: 'm' });
    const agent = await asked();
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    await agent.bytes(stream, SPEECH.subarray(0, 8_000));
    const response = await answer;
    agent.socket.terminate();
    await expect(bytesOf(response)).rejects.toThrow('terminated');
    await expectNothingKept(gateway);
    const row = await usageOf(gateway, response);
    expect(row).toMatchObject({ outcome: 'failed', errorCode: 'provider_disconnected' });
  });

  it.each(STOCK_CLIENTS)(
    '$version raises, and does not take it for a whole file',
    async ({ Sdk }) => {
      const gateway = await startGateway();
      const [studio] = await twoStudios(gateway);
      studio?.fake.behave(dieAfter(SPEECH.subarray(0, 8_000)));
      const client = connect(Sdk, gateway, { maxRetries: 2 });
      let raised = 0;
      for (let i = 0; i < 4 && raised === 0; i++) {
        const response = await client.audio.speech.create({
          model: 'kokoro',
          input: 'Hello',
          voice: 'af_sky',
        });
        const read = await response.arrayBuffer().catch((error: unknown) => error);
        if (read instanceof Error) raised += 1;
      }
      expect(raised).toBe(1);
      await until(() => usageRows(gateway).some(({ outcome }) => outcome === 'failed'));
    },
  );
});
