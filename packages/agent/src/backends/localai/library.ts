/**
 * Models of a LocalAI: pulled from its galleries, by the one API of its that can stop a transfer.
 * LocalAI installs a back end together with the first model that needs it, so only models are
 * pulled whose back end is installed.
 */
import * as z from 'zod';
import { LocalFailure } from '../backend.js';
import type { LibraryModel, LibraryModels, ModelLibrary, PullProgress } from '../backend.js';
import { count, flag, text } from '../loose-facts.js';
import { readModelList } from '../model-list.js';
import { formed, pause, serverRefused } from '../own-api.js';
import type { OwnApi } from '../own-api.js';

const running = z.object({ models: z.array(z.object({ name: z.string() })) });
const gallery = z.array(z.object({ name: z.string().catch(''), backend: text }));
const backends = z.array(z.object({ Name: z.string() }));
const variants = z.object({
  variants: z.array(z.object({ model: z.string(), backend: text, is_base: flag })),
  auto_selected: text,
});
const begun = z.object({ jobID: z.string().min(1) });
const removal = z.object({ uuid: z.string().min(1) });
const job = z.object({
  processed: z.boolean(),
  error: text,
  message: text,
  cancelled: flag,
  progress: count,
  downloaded_size: text,
  current_bytes: count,
  total_bytes: count,
});

const POLL_MS = 1_000;
/** To stop a download, although its own signal is aborted. */
const STOP_MS = 15_000;

export class LocalAiLibrary implements ModelLibrary {
  /** It keeps them where it was started. */
  readonly folders = [];
  readonly stopsPulls = true;
  readonly #api: OwnApi;

  constructor(api: OwnApi) {
    this.#api = api;
  }

  canonical(name: string): string {
    return name;
  }

  async list(signal: AbortSignal): Promise<LibraryModels> {
    const items = readModelList(await this.#api.get('/v1/models', signal)) ?? [];
    const told = running.safeParse(await this.#api.find('/api/ps', signal)).data;
    const loaded = told && new Set(told.models.map(({ name }) => name));
    const models = items.map(({ id }) => ({
      name: id,
      aliases: [],
      bytes: null,
      loaded: loaded?.has(id) ?? null,
      memoryBytes: null,
      isFixed: false,
    }));
    return { can: await this.#can(signal), models };
  }

  async load({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/backend/load', { model }, signal);
  }

  async unload({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/backend/shutdown', { model }, signal);
  }

  async delete({ name }: LibraryModel, signal: AbortSignal): Promise<void> {
    const path = `/models/delete/${encodeURIComponent(name)}`;
    const { uuid } = formed(removal, await this.#api.post(path, {}, signal));
    const parts = this.#follow(uuid, signal);
    while ((await parts.next()).done !== true);
  }

  async *pull(name: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void> {
    const variant = await this.#variantOf(name, signal);
    const query = variant === null ? '' : `?variant=${encodeURIComponent(variant)}`;
    const path = `/api/models/install/${encodeURIComponent(name)}${query}`;
    const { jobID } = formed(begun, await this.#api.post(path, {}, signal));
    try {
      yield* this.#follow(jobID, signal);
    } catch (error) {
      const cancel = `/api/operations/${encodeURIComponent(jobID)}/cancel`;
      await this.#api.post(cancel, {}, AbortSignal.timeout(STOP_MS)).catch(() => {
        // It has ended.
      });
      throw error;
    }
  }

  /** From the list of its own paths; and whether it has those of its web interface. */
  async #can(signal: AbortSignal): Promise<LibraryModels['can']> {
    const paths = JSON.stringify(await this.#api.find('/.well-known/localai.json', signal));
    const operations = await this.#api.find('/api/operations', signal);
    const hasInterface = z.object({ operations: z.array(z.unknown()).nullish() });
    return [
      ...(paths.includes('"/backend/load"') ? (['load'] as const) : []),
      ...(paths.includes('"/backend/shutdown"') ? (['unload'] as const) : []),
      ...(hasInterface.safeParse(operations).success ? (['pull', 'delete'] as const) : []),
    ];
  }

  /**
   * Which build of the gallery's model to ask for; null: it has one. Throws if LocalAI would
   * install a back end with it.
   */
  async #variantOf(name: string, signal: AbortSignal): Promise<string | null> {
    const available = await this.#api.read('/models/available', gallery, signal);
    const entry = available.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (entry === undefined) throw serverRefused(null, `its galleries have no model "${name}"`);
    const installed = await this.#api.read('/backends', backends, signal);
    const has = (backend: string | null | undefined): boolean =>
      installed.some(({ Name }) => Name === backend);
    const told = await this.#api.find(`/api/models/variants/${encodeURIComponent(name)}`, signal);
    const { variants: builds = [], auto_selected: first = null } =
      variants.safeParse(told).data ?? {};
    const usable = builds.filter(({ backend }) => has(backend));
    const chosen =
      usable.find(({ model }) => model === first) ?? usable.find((one) => one.is_base) ?? null;
    if (chosen !== null) return chosen.model;
    if (builds.length === 0 && has(entry.backend)) return null;
    throw serverRefused(
      null,
      `"${name}" needs the back end ${entry.backend ?? '(unnamed)'}, which is not installed. ` +
        'Install it in LocalAI first',
    );
  }

  /** Until the operation has ended. */
  async *#follow(id: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void> {
    for (;;) {
      // An operation that waits for its turn has no status yet.
      const told = await this.#api.find(`/models/jobs/${encodeURIComponent(id)}`, signal);
      const state = job.safeParse(told).data;
      if (state?.error) throw serverRefused({ error: state.error }, 'the operation failed');
      if (state?.cancelled) throw new LocalFailure('LOCAL_ERROR', 'it was canceled in LocalAI.');
      if (state?.processed === true) return;
      const { current_bytes: bytes, total_bytes: totalBytes } = state ?? {};
      // Older versions count no bytes.
      const step = `${state?.progress} ${state?.downloaded_size} ${state?.message}`;
      yield { phase: 'transferring', bytes: bytes || null, totalBytes: totalBytes || null, step };
      await pause(POLL_MS, signal);
    }
  }
}
