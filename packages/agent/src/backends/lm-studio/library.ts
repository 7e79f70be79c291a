/**
 * Models of an LM Studio from 0.4 on. Its API can begin a download but not stop it, and tells the
 * size only afterwards; it deletes nothing.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalFailure } from '../backend.js';
import type { LibraryModel, LibraryModels, ModelLibrary, PullProgress } from '../backend.js';
import { count } from '../loose-facts.js';
import { formed, pause, serverRefused } from '../own-api.js';
import type { OwnApi } from '../own-api.js';

const models = z.object({
  models: z.array(
    z.object({
      key: z.string().min(1),
      size_bytes: count,
      loaded_instances: z.array(z.object({ id: z.string() })).catch([]),
    }),
  ),
});
const download = z.object({
  job_id: z.string().optional(),
  status: z.enum(['downloading', 'paused', 'completed', 'failed', 'already_downloaded']),
  total_size_bytes: count,
  downloaded_bytes: count,
});

const POLL_MS = 1_000;

export class LmStudioLibrary implements ModelLibrary {
  readonly folders = [
    join(homedir(), '.lmstudio', 'models'),
    join(homedir(), '.cache', 'lm-studio', 'models'),
  ];
  readonly stopsPulls = false;
  readonly #api: OwnApi;

  constructor(api: OwnApi) {
    this.#api = api;
  }

  canonical(name: string): string {
    return name.toLowerCase();
  }

  async list(signal: AbortSignal): Promise<LibraryModels> {
    const told = models.safeParse(await this.#api.find('/api/v1/models', signal)).data;
    // Before 0.4 its API only lists them.
    if (told === undefined) return { can: [], models: [] };
    const kept = told.models.map(({ key, size_bytes: size, loaded_instances: loaded }) => ({
      name: key,
      aliases: loaded.map(({ id }) => id),
      bytes: size ?? null,
      loaded: loaded.length > 0,
      memoryBytes: null,
      isFixed: true,
    }));
    return { can: ['load', 'unload', 'pull'], models: kept };
  }

  async load({ name: model }: LibraryModel, signal: AbortSignal): Promise<void> {
    await this.#api.post('/api/v1/models/load', { model }, signal);
  }

  /** Each of its instances. */
  async unload({ aliases }: LibraryModel, signal: AbortSignal): Promise<void> {
    for (const id of aliases) {
      await this.#api.post('/api/v1/models/unload', { instance_id: id }, signal);
    }
  }

  async *pull(model: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void> {
    const path = '/api/v1/models/download';
    let job = formed(download, await this.#api.post(path, { model }, signal));
    const { job_id: id } = job;
    for (;;) {
      if (job.status === 'completed' || job.status === 'already_downloaded') return;
      if (job.status === 'failed') throw serverRefused(null, 'the download failed');
      if (id === undefined) throw new LocalFailure('LOCAL_ERROR', 'LM Studio named no download.');
      const { downloaded_bytes: bytes = null, total_size_bytes: totalBytes = null } = job;
      yield { phase: 'transferring', bytes, totalBytes };
      await pause(POLL_MS, signal);
      job = await this.#api.read(`${path}/status/${encodeURIComponent(id)}`, download, signal);
    }
  }
}
