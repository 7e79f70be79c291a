/** What the owner's settings let a coordinator do with the models of an Ollama. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ManagedOllama } from '../../support/local-servers/managed-ollama.js';
import { startManagedOllama } from '../../support/local-servers/managed-ollama.js';
import { until } from '../../support/until.js';
import { modelStage } from './model-stage.js';
import type { ModelStage } from './model-stage.js';

type StageOptions = Parameters<typeof modelStage>[1];

/** It has `mine:latest`, and may pull `new:1b` of 3,000 bytes and `big:70b`. */
async function ollamaStage(options?: StageOptions) {
  const ollama = await startManagedOllama();
  onTestFinished(() => ollama.server.close());
  ollama.models.set('mine:latest', 5_000);
  ollama.library.set('new:1b', { layers: [2_000, 1_000] });
  ollama.library.set('big:70b', { layers: [1_100_000] });
  return { ollama, stage: await stageOf(ollama, options) };
}

function stageOf({ baseUrl }: ManagedOllama, options?: StageOptions): Promise<ModelStage> {
  return modelStage([{ backend: 'ollama', baseUrl }], options);
}

const namesIn = async (stage: ModelStage): Promise<readonly string[]> =>
  (await stage.list()).servers.flatMap(({ models }) => models.map(({ name }) => name));

describe('an owner who allows it', () => {
  test('sees the models, loads and unloads them, pulls one and deletes it again', async () => {
    const { ollama, stage } = await ollamaStage();
    const [server] = (await stage.list()).servers;
    expect(server).toMatchObject({
      service_id: 'llm-0',
      backend: 'ollama',
      can: ['load', 'unload', 'pull', 'delete'],
      free_bytes: 1_000_000_000,
      models: [{ name: 'mine:latest', bytes: 5_000, loaded: false, can: ['load'] }],
    });
    expect(await stage.act('load', 'mine:latest')).toMatchObject({ state: 'done', by: 'Anna' });
    expect(ollama.loaded).toEqual(new Set(['mine:latest']));
    expect((await stage.list()).servers[0]?.models[0]).toMatchObject({
      loaded: true,
      memory_bytes: 5_000,
      can: ['unload'],
    });
    expect((await stage.act('unload', 'mine:latest')).state).toBe('done');
    expect(ollama.loaded.size).toBe(0);

    const pull = await stage.act('pull', 'new:1b');
    expect(pull).toMatchObject({ state: 'done', bytes: 3_000, total_bytes: 3_000 });
    const after = await stage.list();
    expect(after.used_bytes).toBe(3_000);
    expect(after.servers[0]?.models[1]).toMatchObject({ name: 'new:1b', pulled_here: true });
    expect((await stage.act('delete', 'new:1b')).state).toBe('done');
    expect([...ollama.models.keys()]).toEqual(['mine:latest']);
    expect((await stage.list()).used_bytes).toBe(0);
  });

  test('has a pull canceled, and the server transfers nothing more', async () => {
    const { ollama, stage } = await ollamaStage();
    ollama.isHeld = true;
    const { id } = await stage.begin('pull', 'new:1b');
    const told = await until(async () => {
      const { activities } = await stage.list();
      return activities.find((one) => one.id === id && one.bytes === 1_000);
    });
    expect(told).toMatchObject({ state: 'running', total_bytes: 2_000, can_cancel: true });
    expect((await stage.cancel(id)).state).toBe('canceled');
    await until(() => ollama.server.aborts.some(({ path }) => path === '/api/pull'));
    ollama.isHeld = false;
    expect(ollama.transferred).toBe(1_000);
    expect(await namesIn(stage)).toEqual(['mine:latest']);
    // What had come may stay on the disk, and counts.
    expect((await stage.list()).used_bytes).toBe(1_000);
  });

  test('reads why a pull broke off, failed or hung, and may try again', async () => {
    const { ollama, stage } = await ollamaStage({ limits: { stallMs: 100 } });
    const endings = [
      ['broken connection', 'the local server broke off the connection (UND_ERR_SOCKET).'],
      ['error', /^the local server says: max retries exceeded: write …$/],
      ['silence', 'it made no progress for 0 s, and was stopped.'],
    ] as const;
    for (const [ending, message] of endings) {
      ollama.library.set('new:1b', { layers: [2_000], ending });
      const pull = await stage.act('pull', 'new:1b');
      expect(pull.state).toBe('failed');
      expect(pull.message).toMatch(message);
    }
    expect(await stage.act('pull', 'nobody/knows')).toMatchObject({
      state: 'failed',
      message: 'the local server says: pull model manifest: file does not exist',
    });
    ollama.library.set('new:1b', { layers: [2_000] });
    expect((await stage.act('pull', 'new:1b')).state).toBe('done');
    expect((await stage.list()).used_bytes).toBe(2_000);
  });

  test('keeps the record over a restart, without what was deleted by hand', async () => {
    const { ollama, stage } = await ollamaStage();
    ollama.library.set('other:1b', { layers: [500] });
    await stage.act('pull', 'new:1b');
    await stage.act('pull', 'other:1b');
    await stage.actions.close();
    ollama.models.delete('other:1b');
    const again = await stageOf(ollama, { stateDir: stage.stateDir });
    const { used_bytes: used, servers } = await again.list();
    expect(used).toBe(3_000);
    const here = servers[0]?.models.filter((one) => one.pulled_here).map(({ name }) => name);
    expect(here).toEqual(['new:1b']);
  });

  test('finds a pull counted that an earlier process did not see to its end', async () => {
    const { ollama, stage } = await ollamaStage();
    const record = { server: ollama.baseUrl, model: 'new:1b', bytes: 0, state: 'pulling', at: 1 };
    await writeFile(join(stage.stateDir, 'pulled.json'), JSON.stringify({ models: [record] }));
    ollama.models.set('new:1b', 3_000);
    const again = await stageOf(ollama, { stateDir: stage.stateDir });
    expect((await again.list()).servers[0]?.models[1]).toMatchObject({ pulled_here: true });
    await until(async () => {
      return /"bytes":3000,"state":"pulled"/.test(
        await readFile(join(stage.stateDir, 'pulled.json'), 'utf8'),
      );
    });
  });
});

describe('the agent refuses', () => {
  test('everything while the owner has not turned it on', async () => {
    const { ollama, stage } = await ollamaStage({ settings: { manage: false } });
    const asked = ollama.server.requests.length;
    expect(await stage.list()).toMatchObject({ manages: false, servers: [], activities: [] });
    for (const action of ['load', 'unload', 'pull', 'delete']) {
      await expect(stage.act(action, 'mine:latest')).rejects.toThrow('not_enabled');
    }
    await expect(stage.cancel('x')).rejects.toThrow('not_enabled');
    const later = ollama.server.requests.slice(asked).map(({ path }) => path);
    expect(later.every((path) => path === '/api/tags' || path === '/api/ps')).toBe(true);
  });

  test('addresses, other registries, and models that run elsewhere', async () => {
    const { ollama, stage } = await ollamaStage();
    for (const name of ['https://example.org/x', 'hf.co/a/b', 'host/library/new', '../x', '-x']) {
      await expect(stage.act('pull', name)).rejects.toThrow('invalid_name');
    }
    const cloud = await stage.act('pull', 'gpt-oss:120b-cloud');
    expect(cloud.message).toContain('runs on ollama.com');
    expect(ollama.pulls).toEqual([]);
  });

  test('services and models that it does not offer', async () => {
    const { ollama, stage } = await ollamaStage();
    await expect(stage.act('load', 'mine:latest', 'llm-1')).rejects.toThrow('no_service');
    for (const action of ['load', 'unload', 'delete']) {
      await expect(stage.act(action, 'other:latest')).rejects.toThrow('no_model');
    }
    // The owner names the models of this service: the others are not told, and none is pulled.
    const named = { id: 'x', servedName: 'mine:latest', contextLength: null };
    const models = [{ ...named, inputModalities: null, supportedFeatures: null }];
    ollama.models.set('secret:latest', 1);
    const limited = await modelStage([{ backend: 'ollama', baseUrl: ollama.baseUrl, models }]);
    expect(await namesIn(limited)).toEqual(['mine:latest']);
    await expect(limited.act('load', 'secret:latest')).rejects.toThrow('no_model');
    await expect(limited.act('pull', 'new:1b')).rejects.toThrow('not_offered');
    // A server whose API does not manage models.
    const plain = await modelStage([{ backend: 'openai', baseUrl: `${ollama.baseUrl}/v1` }]);
    await expect(plain.act('load', 'mine:latest')).rejects.toThrow('no_service');
  });

  test('to delete what was not pulled this way, under whichever name', async () => {
    const { ollama, stage } = await ollamaStage();
    ollama.library.set('mine:latest', { layers: [1] });
    await expect(stage.act('delete', 'mine:latest')).rejects.toThrow('not_pulled_here');
    for (const alias of ['mine', 'mine:latest', 'MINE', 'library/mine', 'library/Mine:latest']) {
      await expect(stage.act('pull', alias)).rejects.toThrow('exists');
    }
    expect(ollama.models.has('mine:latest')).toBe(true);
    const trusting = await stageOf(ollama, { settings: { deleteAll: true } });
    expect((await trusting.act('delete', 'mine:latest')).state).toBe('done');
    expect(ollama.models.has('mine:latest')).toBe(false);
  });

  test('to unload or delete what requests run on', async () => {
    const uses = [{ serviceId: 'llm-0', model: 'mine:latest', phase: 'running' as const }];
    const { stage } = await ollamaStage({ uses: () => uses, settings: { deleteAll: true } });
    await stage.act('load', 'mine:latest');
    expect((await stage.list()).servers[0]?.models[0]).toMatchObject({ running: 1, can: [] });
    await expect(stage.act('unload', 'mine:latest')).rejects.toThrow('in_use');
    await expect(stage.act('delete', 'mine:latest')).rejects.toThrow('in_use');
  });

  test('more than the owner’s share of the disk, before a pull and during it', async () => {
    const { ollama, stage } = await ollamaStage();
    ollama.isHeld = true;
    const pull = await stage.act('pull', 'big:70b');
    expect(pull).toMatchObject({ state: 'failed', message: expect.stringContaining('models_max') });
    await until(() => ollama.server.aborts.some(({ path }) => path === '/api/pull'));
    expect(ollama.transferred).toBe(550_000);
    expect(ollama.models.has('big:70b')).toBe(false);
    const full = await stageOf(ollama, { settings: { maxBytes: 0 } });
    await expect(full.act('pull', 'new:1b')).rejects.toThrow('over_limit');
  });

  test('to fill the disk, before a pull and during it', async () => {
    let free = 500;
    const { ollama, stage } = await ollamaStage({ freeBytes: () => free });
    await expect(stage.act('pull', 'new:1b')).rejects.toThrow('disk_full');
    expect(ollama.pulls).toEqual([]);
    // With all of it, fewer than 1,000 would stay free.
    free = 3_500;
    ollama.isHeld = true;
    const { id } = await stage.begin('pull', 'new:1b');
    const ended = await until(async () => {
      const { activities } = await stage.list();
      // Something else fills the disk meanwhile.
      free = 1_500;
      return activities.find((one) => one.id === id && one.state !== 'running');
    });
    expect(ended).toMatchObject({ state: 'failed', message: expect.stringContaining('its disk') });
    expect(ollama.models.has('new:1b')).toBe(false);
    ollama.isHeld = false;
    // Where the agent cannot know the place, the limit of what is pulled still holds.
    const blind = await stageOf(ollama, { freeBytes: () => null });
    expect((await blind.list()).servers[0]?.free_bytes).toBeNull();
    expect((await blind.act('pull', 'new:1b')).state).toBe('done');
  });

  test('a second pull, and more than a few actions a minute', async () => {
    const { ollama, stage } = await ollamaStage({ limits: { actionsPerMinute: 4 } });
    ollama.isHeld = true;
    const { id } = await stage.begin('pull', 'new:1b');
    await expect(stage.act('pull', 'big:70b')).rejects.toThrow('busy');
    // A model is loaded meanwhile.
    expect((await stage.act('load', 'mine:latest')).state).toBe('done');
    expect((await stage.act('unload', 'mine:latest')).state).toBe('done');
    await expect(stage.act('load', 'mine:latest')).rejects.toThrow('busy');
    ollama.isHeld = false;
    await stage.cancel(id);
  });

  test('to pull without a record that it can read', async () => {
    const { ollama, stage } = await ollamaStage();
    await writeFile(join(stage.stateDir, 'pulled.json'), '{');
    const again = await stageOf(ollama, { stateDir: stage.stateDir });
    await expect(again.act('pull', 'new:1b')).rejects.toThrow('no_record');
    expect(await readFile(join(stage.stateDir, 'pulled.json'), 'utf8')).toBe('{');
  });

  test('questions that it does not know, and arguments that it cannot read', async () => {
    const { stage } = await ollamaStage();
    const codeOf = async (topic: string, args: Record<string, unknown>) =>
      (await stage.ask(topic, args)).at(-1)?.refusal?.code;
    expect(await codeOf('models.format', {})).toBe('unknown_question');
    expect(await codeOf('constructor', {})).toBe('unknown_question');
    expect(await codeOf('models.load', { service_id: 'llm-0' })).toBe('invalid_arguments');
    expect(await codeOf('models.load', { x: 'x'.repeat(5_000) })).toBe('invalid_arguments');
    const url = { service_id: 'llm-0', model: 'mine:latest', base_url: 'http://127.0.0.1:1' };
    expect(await codeOf('models.load', url)).toBe('invalid_arguments');
  });
});

test('a list of thousands of names fits into one reply, and is told to be shortened', async () => {
  const { ollama, stage } = await ollamaStage();
  for (let i = 0; i < 2_000; i++) ollama.models.set(`${i}${'\u{1f300}'.repeat(95)}:x`, -1);
  ollama.models.set('x'.repeat(300), 1);
  const [reply] = await stage.ask('models.list');
  expect(Buffer.byteLength(JSON.stringify(reply))).toBeLessThan(200 * 1024);
  const { servers, shortened } = await stage.list();
  expect(shortened).toBe(true);
  expect(servers[0]?.models.length).toBeGreaterThan(100);
  expect(servers[0]?.models[1]).toMatchObject({ bytes: null });
});
