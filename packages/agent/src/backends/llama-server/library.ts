/**
 * Models of llama.cpp's server as a router. Newer versions also pull from its library, which is
 * Hugging Face, into its cache, report that as server-sent events, and delete from the cache.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { asObject, parseJson } from '../../openai-wire/json.js';
import { SseParser } from '../../openai-wire/sse-parser.js';
import { LocalFailure } from '../backend.js';
import type { LibraryModel, LibraryModels, ModelLibrary, PullProgress } from '../backend.js';
import { forward } from '../forward.js';
import type { ForwardedAnswer } from '../forward.js';
import { count, flag, names, text } from '../loose-facts.js';
import { pause, serverRefused } from '../own-api.js';
import type { OwnApi } from '../own-api.js';

const models = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1),
      aliases: names,
      status: z.object({ value: text, failed: flag }).nullish().catch(null),
      can_remove: flag,
      meta: z.object({ size: count }).nullish().catch(null),
    }),
  ),
});
const event = z.object({ model: z.string(), event: z.string(), data: z.unknown().optional() });
const file = z.object({ done: z.number(), total: z.number() });

const POLL_MS = 500;
/** Parts of one model. */
const MAX_FILES = 1_000;
/** To stop a download, although its own signal is aborted. */
const STOP_MS = 15_000;

export class LlamaRouterLibrary implements ModelLibrary {
  readonly folders = [
    join(homedir(), '.cache', 'huggingface', 'hub'),
    join(homedir(), '.cache', 'llama.cpp'),
  ];
  readonly stopsPulls = true;
  readonly #api: OwnApi;
  #hasLibrary = false;

  constructor(api: OwnApi) {
    this.#api = api;
  }

  canonical(name: string): string {
    return name;
  }

  async list(signal: AbortSignal): Promise<LibraryModels> {
    const props = asObject(await this.#api.find('/props', signal));
    if (props?.['role'] !== 'router') return { can: [], models: [] };
    this.#hasLibrary ||= await this.#findLibrary(signal);
    const kept = await this.#rows(signal);
    const can = this.#hasLibrary ? (['load', 'unload', 'pull', 'delete'] as const) : null;
    return {
      can: can ?? ['load', 'unload'],
      models: kept
        .filter(({ status }) => !status?.value?.startsWith('download'))
        .map(({ id, aliases, status, can_remove: canRemove, meta }) => ({
          name: id,
          aliases: aliases ?? [],
          bytes: meta?.size ?? null,
          loaded: isLoaded(status?.value),
          memoryBytes: null,
          isFixed: canRemove !== true,
        })),
    };
  }

  /** The router answers before the model is loaded. */
  async load({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/models/load', { model }, signal);
    for (;;) {
      const row = (await this.#rows(signal)).find(({ id }) => id === model);
      if (row === undefined || row.status?.failed === true) {
        throw new LocalFailure('LOCAL_ERROR', 'the local server could not load it: see its log.');
      }
      if (isLoaded(row.status?.value)) return;
      await pause(POLL_MS, signal);
    }
  }

  async unload({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/models/unload', { model }, signal);
  }

  async delete({ name }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.delete(`/models?model=${encodeURIComponent(name)}`, undefined, signal);
  }

  /** Listens before it asks, so that no event is missed. */
  async *pull(model: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void> {
    const events = await this.#events(signal);
    try {
      await this.#api.post('/models', { model }, signal);
      yield* this.#follow(model, events);
    } catch (error) {
      // Also when the events broke off: otherwise it would go on without anybody to count it.
      await this.#api.post('/models/unload', { model }, AbortSignal.timeout(STOP_MS)).catch(() => {
        // It has ended, or has not begun.
      });
      throw error;
    } finally {
      events.body.abandon();
    }
    // Only a question for the list makes the router take it up.
    await this.#rows(signal);
  }

  async *#follow(model: string, { body }: ForwardedAnswer) {
    const parser = new SseParser();
    const files = new Map<string, z.infer<typeof file>>();
    for await (const bytes of body) {
      for (const { data } of parser.push(bytes)) {
        const told = event.safeParse(parseJson(data)).data;
        if (told?.model !== model) continue;
        if (told.event === 'download_finished') return;
        if (told.event === 'download_failed') throw serverRefused(null, 'the download failed');
        if (told.event !== 'download_progress') continue;
        for (const [url, state] of filesOf(told.data)) files.set(url, state);
        yield progressOf([...files.values()]);
      }
    }
    throw new LocalFailure('LOCAL_ERROR', 'the local server broke off the pull before its end.');
  }

  async #rows(signal: AbortSignal): Promise<z.infer<typeof models>['data']> {
    return (await this.#api.read('/v1/models', models, signal)).data;
  }

  /** Versions that pull have the events; others answer 404. */
  async #findLibrary(signal: AbortSignal): Promise<boolean> {
    const answer = await this.#request(signal);
    answer.body.abandon();
    return isStream(answer);
  }

  async #events(signal: AbortSignal): Promise<ForwardedAnswer> {
    const answer = await this.#request(signal);
    if (isStream(answer)) return answer;
    answer.body.abandon();
    throw serverRefused(null, `/models/sse answered ${answer.status}`);
  }

  #request(signal: AbortSignal): Promise<ForwardedAnswer> {
    const { root, apiKey } = this.#api;
    return forward({ url: `${root}/models/sse`, apiKey, body: null, signal });
  }
}

function isLoaded(value: string | null | undefined): boolean {
  return value === 'loaded' || value === 'sleeping';
}

function isStream({ status, contentType }: ForwardedAnswer): boolean {
  return status === 200 && contentType.startsWith('text/event-stream');
}

type File = z.infer<typeof file>;

/** By the file's address; later versions write them one level deeper. */
function filesOf(data: unknown): readonly (readonly [string, File])[] {
  const told = asObject(data);
  const files = asObject(told?.['progress']) ?? told ?? {};
  return Object.entries(files)
    .slice(0, MAX_FILES)
    .flatMap(([url, state]) => {
      const parsed = file.safeParse(state);
      return parsed.success ? [[url, parsed.data] as const] : [];
    });
}

function progressOf(files: readonly File[]): PullProgress {
  const bytes = files.reduce((sum, { done }) => sum + done, 0);
  const totalBytes = files.reduce((sum, { total }) => sum + total, 0);
  return { phase: bytes < totalBytes ? 'transferring' : 'finishing', bytes, totalBytes };
}
