/**
 * Models of an Ollama: pulled from its own library by a stream of JSON lines, which ends the
 * transfer when its connection closes.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { asObject, parseJson } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { LibraryModel, LibraryModels, ModelLibrary, PullProgress } from '../backend.js';
import { forward } from '../forward.js';
import { count, text } from '../loose-facts.js';
import { formed, serverRefused } from '../own-api.js';
import type { OwnApi } from '../own-api.js';

const tags = z.object({
  models: z.array(
    z.object({ name: z.string().min(1), size: count, remote_host: text, remote_model: text }),
  ),
});
const running = z.object({
  models: z.array(z.object({ name: z.string(), size_vram: count, size: count })),
});
const line = z.object({ status: z.string(), digest: text, total: count, completed: count });

/** Of a line of the stream; a layer's is about 200 bytes. */
const MAX_LINE_BYTES = 64 * 1024;

/** A manifest has a dozen layers. */
const MAX_LAYERS = 10_000;

export class OllamaLibrary implements ModelLibrary {
  readonly folders = [join(homedir(), '.ollama', 'models'), '/usr/share/ollama'];
  readonly stopsPulls = true;
  readonly #api: OwnApi;

  constructor(api: OwnApi) {
    this.#api = api;
  }

  /** Names are not case-sensitive; `library` and `latest` are understood. */
  canonical(name: string): string {
    const short = name.toLowerCase().replace(/^library\//, '');
    return short.includes(':') ? short : `${short}:latest`;
  }

  async list(signal: AbortSignal): Promise<LibraryModels> {
    const listed = (await this.#api.read('/api/tags', tags, signal)).models;
    const loaded = (await this.#api.read('/api/ps', running, signal)).models;
    const inMemory = new Map(loaded.map((one) => [one.name, one.size_vram ?? one.size ?? null]));
    const models = listed
      .filter((one) => !one.remote_host && !one.remote_model && !isCloud(one.name))
      .map((one): LibraryModel => {
        const { name, size } = one;
        return {
          name,
          aliases: [],
          bytes: size ?? null,
          loaded: inMemory.has(name),
          memoryBytes: inMemory.get(name) ?? null,
          isFixed: false,
        };
      });
    return { can: ['load', 'unload', 'pull', 'delete'], models };
  }

  /** A model that makes embeddings cannot generate, and is loaded by its own request. */
  async load({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    try {
      await this.#api.post('/api/generate', { model, stream: false }, signal);
    } catch (error) {
      if (!(error instanceof LocalFailure) || !/does not support generate/.test(error.message)) {
        throw error;
      }
      await this.#api.post('/api/embed', { model, input: '' }, signal);
    }
  }

  async unload({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/api/generate', { model, keep_alive: 0, stream: false }, signal);
  }

  async delete({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.delete('/api/delete', { model }, signal);
  }

  async *pull(name: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void> {
    if (isCloud(name)) {
      const message = `${name} runs on ollama.com, under the owner's account.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const body = JSON.stringify({ model: name, stream: true });
    const url = `${this.#api.root}/api/pull`;
    const answer = await forward({ url, apiKey: this.#api.apiKey, body, signal });
    const layers = new Map<string, Layer>();
    for await (const said of lines(answer.body)) {
      const isError = answer.status >= 300 || asObject(said)?.['error'] !== undefined;
      if (isError) throw serverRefused(said, `/api/pull answered ${answer.status}`);
      const { status, digest, total, completed } = formed(line, said);
      if (status === 'success') return;
      if (digest && layers.size < MAX_LAYERS) {
        layers.set(digest, { total: total ?? 0, done: completed ?? 0 });
      }
      yield { ...progressOf(layers, /^(verifying|writing|removing)/.test(status)), step: status };
    }
    const message = 'the local server broke off the pull before its end.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
}

interface Layer {
  readonly total: number;
  readonly done: number;
}

/** Layers are announced one after the other: the largest, which is the first, counts most. */
function progressOf(layers: ReadonlyMap<string, Layer>, isFinishing: boolean): PullProgress {
  const phase = isFinishing ? 'finishing' : 'transferring';
  if (layers.size === 0) return { phase, bytes: null, totalBytes: null };
  const all = [...layers.values()];
  const bytes = all.reduce((sum, { done }) => sum + done, 0);
  return { phase, bytes, totalBytes: all.reduce((sum, { total }) => sum + total, 0) };
}

/** Such models run on ollama.com, under the owner's account and at their cost. */
function isCloud(name: string): boolean {
  return /[-:]cloud$/i.test(name);
}

/** The JSON of each line. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const whole = rest.split('\n');
    rest = whole.pop() ?? '';
    if (rest.length > MAX_LINE_BYTES) {
      throw new LocalFailure('LOCAL_ERROR', 'the local server sent a line without an end.');
    }
    for (const one of whole) if (one.trim() !== '') yield parseJson(one) ?? {};
  }
  if (rest.trim() !== '') yield parseJson(rest) ?? {};
}
