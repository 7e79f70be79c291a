import { describe, expect, it, onTestFinished } from 'vitest';
import { bytesOf, draw, listAssets, speak } from '../api/media-calls.js';
import { failureOf } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { heldBytes, MIB } from '../support/memory.js';
import { filesBelow } from '../support/open-library.js';
import { picture } from '../support/pictures.js';
import { SPEECH, startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { usageOf } from '../support/usage-rows.js';

const LARGE_PNG = Buffer.concat([picture(), Buffer.alloc(64 * MIB)]);

async function expectNothingKept(gateway: TestGateway): Promise<void> {
  await until(async () => (await filesBelow(gateway.dataDir)).length === 0, {
    what: 'the drafts to be removed',
  });
  expect(await listAssets(gateway)).toEqual([]);
}

describe('an image of 64 MiB', () => {
  it.each(['url', 'b64_json'])('passes without being held in memory: %s', async (format) => {
    const gateway = await startGateway({ maxBodyMemoryBytes: MIB });
    const agent = await connectMediaAgent(gateway, { type: 'image', slots: 1 });
    const answer = draw(gateway, { model: 'm', response_format: format });
    const { stream } = await agent.nextOpen();
    const before = heldBytes();
    const sent = agent.media(stream, [{ bytes: LARGE_PNG }]);
    await until(() => (agent.granted.get(stream) ?? 0) > 48 * MIB);
    // Coordinator, agent and caller are this one process.
    expect(heldBytes() - before).toBeLessThan(32 * MIB);
    await sent;
    const response = await answer;
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      const isLate = bytes > 48 * MIB && bytes - piece.length <= 48 * MIB;
      if (isLate) expect(heldBytes() - before).toBeLessThan(32 * MIB);
      bytes += piece.length;
    }
    expect(bytes).toBe(Number(response.headers.get('content-length')));
    if (format === 'b64_json') expect(bytes).toBeGreaterThan((LARGE_PNG.length / 3) * 4);
    expect(await listAssets(gateway)).toMatchObject([{ bytes: LARGE_PNG.length }]);
  });
});

describe('storage', () => {
  /** A tenth is one member's: room for one answer. */
  const ROOM = { assetsMaxBytes: 10 * SPEECH.length };

  it('that is full is 507 storage_full before a GPU is asked', async () => {
    const gateway = await startGateway(ROOM);
    const { fake } = await startStudio(gateway, { types: ['tts', 'image'] });
    onTestFinished(() => fake.close());
    await bytesOf(await speak(gateway));
    fake.requests.length = 0;
    for (const call of [speak, draw]) {
      const failure = await failureOf(await call(gateway));
      expect(failure).toMatchObject({ status: 507, type: 'server_error', code: 'storage_full' });
      expect(failure).toMatchObject({ retry: 'false', param: null });
      expect(failure.message).toContain('Delete some');
    }
    expect(fake.requests).toEqual([]);
  });

  it('that is not full for another member is theirs', async () => {
    const gateway = await startGateway(ROOM);
    const owner = gateway.ben;
    const { fake } = await startStudio(gateway, { types: ['tts'], owner });
    const own = await startStudio(gateway, { types: ['tts'] });
    onTestFinished(async () => {
      await Promise.all([fake.close(), own.fake.close()]);
    });
    await bytesOf(await speak(gateway));
    expect((await speak(gateway)).status).toBe(507);
    const headers = { authorization: `Bearer ${owner.key}` };
    expect((await speak(gateway, {}, { headers })).status).toBe(200);
  });

  it('that fills up meanwhile is 507, and no image of the answer stays', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'image', slots: 1 });
    const answer = draw(gateway, { model: 'm', n: 3 });
    const { stream } = await agent.nextOpen();
    const bytes = Buffer.concat([picture(), Buffer.alloc(9_000)]);
    await agent.media(stream, [{ bytes }, { bytes }, { bytes }]);
    const response = await answer;
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 507, code: 'storage_full', retry: 'false' });
    await expectNothingKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({
      outcome: 'failed',
      errorCode: 'storage_full',
      images: 0,
    });
  });

  it('that one file alone would overfill is 507, and the work is stopped', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'image', slots: 1 });
    const answer = draw(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    const sending = agent.bytes(stream, LARGE_PNG);
    sending.catch(() => {});
    expect(await failureOf(await answer)).toMatchObject({ status: 507, code: 'storage_full' });
    expect((await agent.first('RESET')).code).toBe('INTERNAL');
    await expectNothingKept(gateway);
  });

  it('that fills up under a file whose bytes are out cuts the connection', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'tts', slots: 1 });
    const answer = speak(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    const sending = agent.bytes(stream, Buffer.concat([SPEECH, Buffer.alloc(4 * MIB)]));
    sending.catch(() => {});
    const response = await answer;
    await expect(bytesOf(response)).rejects.toThrow('terminated');
    await expectNothingKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({ errorCode: 'storage_full' });
  });

  it('that another answer has filled costs a whole file its copy, and nothing else', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'tts', slots: 2 });
    const slow = speak(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    await agent.bytes(stream, SPEECH);
    const response = await slow;
    const quick = speak(gateway, { model: 'm' });
    await agent.media((await agent.nextOpen()).stream, [{ bytes: SPEECH }]);
    expect(await bytesOf(await quick)).toEqual(SPEECH);
    agent.send({ t: 'END', stream, ok: true });
    expect(await bytesOf(response)).toEqual(SPEECH);
    expect(await usageOf(gateway, response)).toMatchObject({ outcome: 'ok', errorCode: null });
    const url = (await quick).headers.get('x-asset-url');
    expect(await listAssets(gateway)).toMatchObject([{ url }]);
    await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
  });
});
