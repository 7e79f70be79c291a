/** Models of LM Studio, llama.cpp's router and LocalAI: what each can do, and what it cannot. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  startManagedLmStudio,
  startManagedLocalAi,
  startManagedRouter,
} from '../../support/local-servers/managed-servers.js';
import { startLlamaServer } from '../../support/local-servers/llama-server.js';
import { startLmStudioV0 } from '../../support/local-servers/lm-studio.js';
import { startLocalAi } from '../../support/local-servers/localai.js';
import { until } from '../../support/until.js';
import { modelStage } from './model-stage.js';
import type { ModelStage } from './model-stage.js';

function stopping<T extends { readonly server: { close(): Promise<void> } }>(managed: T): T {
  onTestFinished(() => managed.server.close());
  return managed;
}

async function offered(stage: ModelStage): Promise<readonly string[]> {
  return (await stage.list()).servers.flatMap(({ can }) => can);
}

/** What was posted to the path, last. */
function lastBody(server: { to(path: string): { body: Buffer }[] }, path: string): unknown {
  return JSON.parse(String(server.to(path).at(-1)?.body));
}

describe('LM Studio', () => {
  test('loads a model and unloads its instances; it deletes nothing', async () => {
    const studio = stopping(await startManagedLmStudio());
    const service = { backend: 'lm-studio', baseUrl: `${studio.server.origin}/v1` };
    const stage = await modelStage([service]);
    // A transfer that nothing stops would pass every limit of the owner's.
    expect(await offered(stage)).toEqual(['load', 'unload']);
    await expect(stage.act('pull', 'qwen/qwen3-4b')).rejects.toThrow('not_offered');
    await expect(stage.act('delete', 'tiny')).rejects.toThrow('not_offered');
    expect((await stage.act('load', 'tiny')).state).toBe('done');
    expect((await stage.list()).servers[0]?.models[0]).toMatchObject({
      name: 'tiny',
      bytes: 1_000,
      loaded: true,
      can: ['unload'],
    });
    expect((await stage.act('unload', 'tiny')).state).toBe('done');
    expect(lastBody(studio.server, '/api/v1/models/unload')).toEqual({ instance_id: 'tiny:2' });
  });

  test('pulls if the owner lets servers do so that nothing stops', async () => {
    const studio = stopping(await startManagedLmStudio());
    const service = { backend: 'lm-studio', baseUrl: `${studio.server.origin}/v1` };
    const stage = await modelStage([service], { settings: { unstoppablePulls: true } });
    const pull = await stage.begin('pull', 'qwen/qwen3-4b');
    expect(pull.can_cancel).toBe(false);
    await expect(stage.cancel(pull.id)).rejects.toThrow('not_offered');
    await until(async () => (await stage.list()).activities[0]?.total_bytes === 1_000);
    studio.done = 1_000;
    await until(async () => (await stage.list()).activities[0]?.state === 'done', {
      timeoutMs: 5_000,
    });
    const models = (await stage.list()).servers[0]?.models;
    expect(models?.map((one) => [one.name, one.pulled_here])).toEqual([
      ['tiny', false],
      ['qwen/qwen3-4b', true],
    ]);
  });

  test('of a version before 0.4 manages none', async () => {
    const server = await startLmStudioV0();
    onTestFinished(() => server.close());
    const stage = await modelStage([{ backend: 'lm-studio', baseUrl: `${server.origin}/v1` }]);
    expect(await offered(stage)).toEqual([]);
  });
});

describe('llama.cpp’s server', () => {
  test('as a router loads, unloads, pulls and deletes what is in its cache', async () => {
    const router = stopping(await startManagedRouter());
    const stage = await modelStage([{ backend: 'llama-server', baseUrl: router.server.origin }], {
      settings: { deleteAll: true },
    });
    expect(await offered(stage)).toEqual(['load', 'unload', 'pull', 'delete']);
    expect((await stage.act('load', 'tiny')).state).toBe('done');
    expect(router.status.get('tiny')).toBe('loaded');
    expect((await stage.act('unload', 'tiny')).state).toBe('done');
    // It is from a folder or a preset of the owner's.
    await expect(stage.act('delete', 'tiny')).rejects.toThrow('fixed');
    expect((await stage.act('delete', 'user/cached:Q4_K_M')).state).toBe('done');

    await stage.begin('pull', 'user/new');
    await until(() => router.status.has('user/new'));
    const url = 'https://models.example/new.gguf';
    router.tell('user/new', 'download_progress', { [url]: { done: 10, total: 40 } });
    await until(async () => (await stage.list()).activities.at(-1)?.bytes === 10);
    router.status.delete('user/new');
    router.status.set('user/new:Q4_K_M', 'unloaded');
    router.tell('user/new', 'download_finished');
    await until(async () => (await stage.list()).activities.at(-1)?.state === 'done');
    // The build that it chose is what was pulled.
    const models = (await stage.list()).servers[0]?.models;
    expect(models?.find((one) => one.pulled_here)?.name).toBe('user/new:Q4_K_M');
  });

  test('is told to stop a pull that is canceled', async () => {
    const router = stopping(await startManagedRouter());
    const stage = await modelStage([{ backend: 'llama-server', baseUrl: router.server.origin }]);
    const { id } = await stage.begin('pull', 'user/new');
    await until(() => router.status.has('user/new'));
    expect((await stage.cancel(id)).state).toBe('canceled');
    expect(lastBody(router.server, '/models/unload')).toEqual({ model: 'user/new' });
    expect(router.status.has('user/new')).toBe(false);
  });

  test('of an older version loads and unloads; with one model it manages none', async () => {
    const router = stopping(await startManagedRouter(false));
    const stage = await modelStage([{ backend: 'llama-server', baseUrl: router.server.origin }]);
    expect(await offered(stage)).toEqual(['load', 'unload']);
    const single = await startLlamaServer();
    onTestFinished(() => single.close());
    const plain = await modelStage([{ backend: 'llama-server', baseUrl: single.origin }]);
    expect(await offered(plain)).toEqual([]);
  });
});

describe('LocalAI', () => {
  test('pulls what its back ends can run, loads, unloads and deletes', async () => {
    const local = stopping(await startManagedLocalAi());
    const service = { backend: 'localai', baseUrl: `${local.server.origin}/v1` };
    const stage = await modelStage([service]);
    expect(await offered(stage)).toEqual(['load', 'unload', 'pull', 'delete']);
    const refused = await stage.act('pull', 'whisper-x');
    expect(refused.message).toContain('needs the back end whisperx, which is not installed');
    expect((await stage.act('pull', 'unheard-of')).message).toContain('no model "unheard-of"');
    expect(local.models).toEqual(new Set(['tiny']));

    local.job = { processed: true, current_bytes: 1_000 };
    expect((await stage.act('pull', 'phi-2')).state).toBe('done');
    expect((await stage.act('load', 'phi-2')).state).toBe('done');
    expect(local.loaded).toEqual(new Set(['phi-2']));
    expect((await stage.act('unload', 'phi-2')).state).toBe('done');
    expect((await stage.act('delete', 'phi-2')).state).toBe('done');
    await expect(stage.act('delete', 'tiny')).rejects.toThrow('not_pulled_here');
    expect(local.models).toEqual(new Set(['tiny']));
  });

  test('is told to stop a pull that is canceled', async () => {
    const local = stopping(await startManagedLocalAi());
    const service = { backend: 'localai', baseUrl: `${local.server.origin}/v1` };
    const stage = await modelStage([service]);
    const { id } = await stage.begin('pull', 'phi-2');
    await until(async () => (await stage.list()).activities[0]?.bytes === 300);
    expect((await stage.cancel(id)).state).toBe('canceled');
    expect(local.job.cancelled).toBe(true);
  });

  test('of a version without these APIs manages none', async () => {
    const server = await startLocalAi();
    onTestFinished(() => server.close());
    const stage = await modelStage([{ backend: 'localai', baseUrl: `${server.origin}/v1` }]);
    expect(await offered(stage)).toEqual([]);
  });
});
