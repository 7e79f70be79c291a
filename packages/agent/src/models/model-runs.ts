/** Carries out actions on models, within the owner's limits of disk space and time. */
import type { LibraryModel, LibraryModels, PullProgress } from '../backends/backend.js';
import { LocalFailure } from '../backends/backend.js';
import type { Catalog } from '../backends/catalog/catalog.js';
import { Refusal } from '../work/answers.js';
import type { Activity } from './activity.js';
import type { freeBytesOf } from './disk-space.js';
import type { ModelSettings } from '../config/model-settings.js';
import type { ModelServer } from './model-servers.js';
import type { Brought, PulledModels } from './pulled-models.js';

const GIB = 1024 ** 3;

export const MODEL_LIMITS = {
  /** Actions of any kind that begin within a minute. */
  actionsPerMinute: 20,
  /** A pull that makes no progress for so long is stopped; checking the bytes takes longer. */
  stallMs: 120_000,
  finishMs: 30 * 60_000,
  loadMs: 15 * 60_000,
  changeMs: 60_000,
  /** How often the disk is looked at during a pull, and how often progress is told. */
  lookMs: 1_000,
  /** Ended actions that are still told. */
  keptActivities: 10,
};

/** The owner asked for the end. */
export class Canceled extends Error {}

interface RunsParts {
  readonly settings: ModelSettings;
  readonly catalog: Pick<Catalog, 'lookSoon'>;
  readonly pulled: PulledModels;
  readonly freeBytes: typeof freeBytesOf;
  readonly limits: typeof MODEL_LIMITS;
  /** What a server keeps now. */
  readonly list: (server: ModelServer) => Promise<LibraryModels>;
  /** What was listed is out of date. */
  readonly changed: (server: ModelServer) => void;
}

export class ModelRuns {
  readonly #parts: RunsParts;

  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  freeBytes({ entry }: ModelServer): Promise<number | null> {
    return this.#parts.freeBytes(entry);
  }

  /** Why a pull may not begin, or may not go on; null if it may. */
  async spaceFault(server: ModelServer, activity: Activity | null): Promise<Refusal | null> {
    const limit = this.#limitFault(activity);
    if (limit !== null) return limit;
    const { settings } = this.#parts;
    const free = await this.freeBytes(server);
    // What has come is not free any more.
    const missing = Math.max(0, (activity?.totalBytes ?? 0) - (activity?.bytes ?? 0));
    if (free === null || free - missing >= settings.minFreeBytes) return null;
    const message =
      `its disk has ${gigabytes(free)} left, and ${gigabytes(settings.minFreeBytes)} of them are ` +
      'to stay free ("models_min_free_gb" on the machine). Delete something there.';
    return new Refusal('disk_full', message);
  }

  #limitFault(activity: Activity | null): Refusal | null {
    const { pulled, settings } = this.#parts;
    const all = Math.max(activity?.bytes ?? 0, activity?.totalBytes ?? 0, 1);
    if (pulled.usedBytes + all <= settings.maxBytes) return null;
    const message =
      `with it, models pulled this way would have more than ${gigabytes(settings.maxBytes)}, ` +
      'which is "models_max_gb" on the machine. Delete some, or raise it there.';
    return new Refusal('over_limit', message);
  }

  /** Loads, unloads or deletes. Never rejects: the activity tells how it went. */
  async change(activity: Activity, server: ModelServer, model: LibraryModel): Promise<void> {
    const { limits, pulled } = this.#parts;
    const { action } = activity.asked;
    const limitMs = action === 'load' ? limits.loadMs : limits.changeMs;
    const signal = AbortSignal.any([activity.signal, AbortSignal.timeout(limitMs)]);
    const { library } = server;
    await this.#settle(activity, server, async () => {
      if (action === 'load') await library.load(model, signal);
      else if (action === 'unload') await library.unload(model, signal);
      else {
        await library.delete?.(model, signal);
        await pulled.removed(server.root, model.name);
      }
    });
  }

  /** Never rejects, either. */
  async pull(activity: Activity, server: ModelServer): Promise<void> {
    const { pulled } = this.#parts;
    const { library, root } = server;
    const wanted = library.canonical(activity.asked.model);
    await this.#settle(activity, server, async () => {
      const before = new Set((await this.#parts.list(server)).models.map(({ name }) => name));
      await pulled.begin(root, wanted);
      let brought: readonly Brought[] = [];
      try {
        await this.#transfer(activity, server);
        brought = await this.#brought(activity, server, before);
      } catch (error) {
        const bytes = activity.bytes ?? 0;
        brought = bytes === 0 ? [] : [{ model: wanted, bytes, state: 'remains' }];
        throw error;
      } finally {
        await pulled.ended(root, wanted, brought);
      }
    });
  }

  async #transfer(activity: Activity, server: ModelServer): Promise<void> {
    const { limits } = this.#parts;
    const watch = new StallWatch(activity, limits);
    // The signal stops the transfer; leaving the loop would not.
    const refuse = (fault: Refusal | null): void => {
      if (fault !== null) activity.stop(fault);
    };
    const look = setInterval(
      () => void this.spaceFault(server, activity).then(refuse),
      limits.lookMs,
    );
    try {
      const parts = server.library.pull?.(activity.asked.model, activity.signal);
      for await (const progress of parts ?? []) {
        if (activity.progressed(progress)) watch.heard(progress);
        refuse(this.#limitFault(activity));
      }
    } finally {
      clearInterval(look);
      watch.end();
    }
  }

  /** What has come into the server's list: it may name the build that it chose. */
  async #brought(
    activity: Activity,
    { library, ...server }: ModelServer,
    before: ReadonlySet<string>,
  ): Promise<readonly Brought[]> {
    const wanted = library.canonical(activity.asked.model);
    const { models } = await this.#parts.list({ library, ...server });
    const come = models.filter(({ name }) => {
      const known = library.canonical(name);
      return !before.has(name) && (known === wanted || known.startsWith(`${wanted}:`));
    });
    return come.map(({ name, bytes }) => ({
      model: name,
      bytes: bytes ?? activity.totalBytes ?? activity.bytes ?? 0,
      state: 'pulled',
    }));
  }

  async #settle(activity: Activity, server: ModelServer, act: () => Promise<void>): Promise<void> {
    const { entries, library } = server;
    try {
      await act();
      this.#parts.changed(server);
      activity.ended('done');
    } catch (error) {
      this.#parts.changed(server);
      if (error instanceof Canceled) activity.ended('canceled');
      else {
        const goesOn = activity.asked.action === 'pull' && !library.stopsPulls;
        activity.ended('failed', whyNot(error, goesOn));
      }
    }
    this.#parts.catalog.lookSoon(entries.map(({ config }) => config.id));
  }
}

/** Stops a pull that makes no progress. */
class StallWatch {
  readonly #activity: Activity;
  readonly #limits: typeof MODEL_LIMITS;
  #timer: NodeJS.Timeout;

  constructor(activity: Activity, limits: typeof MODEL_LIMITS) {
    this.#activity = activity;
    this.#limits = limits;
    this.#timer = this.#start(limits.stallMs);
  }

  heard({ phase }: PullProgress): void {
    this.end();
    const { stallMs, finishMs } = this.#limits;
    this.#timer = this.#start(phase === 'finishing' ? finishMs : stallMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(ms: number): NodeJS.Timeout {
    const message = `it made no progress for ${Math.round(ms / 1_000)} s, and was stopped.`;
    return setTimeout(() => this.#activity.stop(new Refusal('stalled', message)), ms);
  }
}

function whyNot(error: unknown, goesOn: boolean): string {
  const reason = reasonOf(error);
  return goesOn ? `${reason} Its server may go on with it: nothing stops it from here.` : reason;
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof LocalFailure) return error.message;
  const timedOut = error instanceof Error && error.name === 'TimeoutError';
  return timedOut ? 'the local server did not answer in time.' : 'the agent failed: see its log.';
}

function gigabytes(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`;
}
