/**
 * What the coordinator may do with the models of local servers: what the owner's settings on this
 * machine allow, and nothing else. The coordinator is not trusted with names, servers or amounts.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { ASK_REFUSALS } from '@inference-gateway/shared/protocol/asks';
import {
  cancelArgs,
  MAX_MODEL_NAME,
  MAX_MODELS_LISTED,
  MODEL_ACTIONS,
  modelArgs,
  MODELS_CANCEL,
  MODELS_LIST,
} from '@inference-gateway/shared/protocol/model-asks';
import type {
  ModelAction,
  ModelServerBody,
  ModelsBody,
} from '@inference-gateway/shared/protocol/model-asks';
import type * as z from 'zod';
import { LocalFailure } from '../backends/backend.js';
import type { LibraryModel, LibraryModels } from '../backends/backend.js';
import type { Catalog } from '../backends/catalog/catalog.js';
import { Pace, Refusal } from '../work/answers.js';
import type { Answerer } from '../work/answers.js';
import { within } from '../work/within.js';
import type { Use } from '../work/run-record.js';
import { Activity } from './activity.js';
import { freeBytesOf } from './disk-space.js';
import { nameFault } from './model-name.js';
import { Canceled, MODEL_LIMITS, ModelRuns } from './model-runs.js';
import type { ModelSettings } from '../config/model-settings.js';
import { ModelLists, modelServers, namesOf } from './model-servers.js';
import type { ModelServer } from './model-servers.js';
import type { PulledModels } from './pulled-models.js';

interface ActionsParts {
  readonly settings: ModelSettings;
  readonly catalog: Pick<Catalog, 'entries' | 'lookSoon'>;
  readonly pulled: PulledModels;
  /** What runs now. */
  readonly uses: () => readonly Pick<Use, 'serviceId' | 'model' | 'phase'>[];
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly limits?: Partial<typeof MODEL_LIMITS>;
  /** For tests: of the disk of a server. */
  readonly freeBytes?: typeof freeBytesOf;
}

export const NO_MANAGING: ModelSettings = {
  manage: false,
  deleteAll: false,
  maxBytes: 0,
  minFreeBytes: 0,
  unstoppablePulls: false,
};

/** How long a stopping agent waits until a transfer has stopped. */
const CLOSE_MS = 2_000;

export class ModelActions {
  /** The questions that it answers. */
  readonly topics: ReadonlyMap<string, Answerer>;
  readonly #parts: ActionsParts;
  readonly #limits: typeof MODEL_LIMITS;
  readonly #runs: ModelRuns;
  readonly #lists = new ModelLists();
  readonly #pace: Pace;
  /** One pull of all servers at a time, and one other action of each server. */
  readonly #busy = new Set<string>();
  #activities: readonly Activity[] = [];

  constructor(parts: ActionsParts) {
    this.#parts = parts;
    this.#limits = { ...MODEL_LIMITS, ...parts.limits };
    const { freeBytes = freeBytesOf } = parts;
    const list = (server: ModelServer): Promise<LibraryModels> => this.#kept(server, true);
    const changed = ({ root }: ModelServer): void => this.#lists.forget(root);
    this.#runs = new ModelRuns({ ...parts, freeBytes, limits: this.#limits, list, changed });
    this.#pace = new Pace(this.#limits.actionsPerMinute);
    const acting = MODEL_ACTIONS.map((action): [string, Answerer] => [
      `models.${action}`,
      (asked) => this.#asked(action, asked),
    ]);
    this.topics = new Map<string, Answerer>([
      [MODELS_LIST, () => this.#answerList()],
      [MODELS_CANCEL, (asked) => this.#cancel(asked)],
      ...acting,
    ]);
  }

  /** Stops what runs. */
  async close(): Promise<void> {
    for (const activity of this.#activities) activity.stop(new Canceled());
    await Promise.all(this.#activities.map(({ over }) => within(CLOSE_MS, over)));
    await this.#parts.pulled.close();
  }

  // eslint-disable-next-line require-yield
  async *#answerList(): ReturnType<Answerer> {
    return this.#list();
  }

  async #list(): Promise<ModelsBody> {
    const { settings, pulled, catalog } = this.#parts;
    const told = {
      manages: settings.manage,
      deletes_all: settings.deleteAll,
      max_bytes: settings.maxBytes,
      min_free_bytes: settings.minFreeBytes,
      used_bytes: pulled.usedBytes,
    };
    if (!settings.manage) return { ...told, servers: [], shortened: false, activities: [] };
    const servers: ModelServerBody[] = [];
    const room = { models: MAX_MODELS_LISTED, bytes: MAX_LISTED_BYTES };
    let shortened = false;
    const all = modelServers(catalog.entries());
    for (const server of await Promise.all(all.map((one) => this.#describe(one)))) {
      const models = server.models.filter((model) => {
        room.models -= 1;
        room.bytes -= Buffer.byteLength(JSON.stringify(model));
        return room.models >= 0 && room.bytes >= 0;
      });
      shortened ||= models.length < server.models.length;
      servers.push({ ...server, models });
    }
    const activities = this.#activities.map((one) => one.view());
    return { ...told, used_bytes: pulled.usedBytes, servers, shortened, activities };
  }

  async #describe(server: ModelServer): Promise<ModelServerBody> {
    const { entry, entries } = server;
    const about = {
      service_id: entry.config.id,
      services: entries.map(({ config }) => config.id),
      backend: entry.config.backend,
      free_bytes: await this.#runs.freeBytes(server),
    };
    try {
      const kept = await this.#kept(server);
      const models = kept.models.filter(isTellable).map((model) => ({
        name: model.name,
        bytes: amountOf(model.bytes),
        loaded: model.loaded,
        memory_bytes: amountOf(model.memoryBytes),
        running: this.#runningOn(server, model),
        pulled_here: this.#parts.pulled.has(server.root, model.name),
        can: kept.can.filter((action) => this.#faultOf(action, server, model) === null),
      }));
      return { ...about, can: [...kept.can], fault: null, models };
    } catch (error) {
      return { ...about, can: [], fault: faultText(error), models: [] };
    }
  }

  /** Its models, and what it can do that the owner's settings allow. */
  async #kept(server: ModelServer, isFresh = false): Promise<LibraryModels> {
    const { pulled, settings } = this.#parts;
    const { library } = server;
    const kept = await this.#lists.of(server, isFresh);
    pulled.listed(server.root, new Map(kept.models.map(({ name, bytes }) => [name, bytes])));
    const mayPull = library.stopsPulls || settings.unstoppablePulls;
    return { ...kept, can: kept.can.filter((action) => action !== 'pull' || mayPull) };
  }

  async *#asked(action: ModelAction, { args, by }: Parameters<Answerer>[0]): ReturnType<Answerer> {
    const { service_id: serviceId, model } = read(modelArgs, args);
    const about = { action, service: serviceId, model: model.slice(0, MAX_LOGGED), by };
    const { logger } = this.#parts;
    const activity = await this.#begin({ action, serviceId, model, by }).catch((error: unknown) => {
      const reason = error instanceof Refusal ? error.message : String(error);
      logger.warn({ ...about, reason }, 'models: the coordinator asked, and was refused');
      throw error;
    });
    logger.info(about, 'models: the coordinator asked, and it begins');
    while (activity.isRunning) {
      yield { activity: activity.view() };
      await within(this.#limits.lookMs, activity.over);
    }
    const { state, message, bytes } = activity.view();
    logger.info({ ...about, state, message, bytes }, 'models: it has ended');
    return { activity: activity.view() };
  }

  /** Checks everything that the coordinator says, and starts the action. */
  async #begin(order: Order): Promise<Activity> {
    const { settings, catalog } = this.#parts;
    if (!settings.manage) throw notManaging();
    const { action, serviceId } = order;
    const server = modelServers(catalog.entries()).find(({ entries }) =>
      entries.some(({ config }) => config.id === serviceId),
    );
    if (server === undefined) {
      const message = `this machine manages no models of a service "${shown(serviceId)}".`;
      throw new Refusal('no_service', message);
    }
    if (!this.#pace.take()) {
      const most = this.#limits.actionsPerMinute;
      const message = `the agent begins ${most} actions on models a minute. Try again later.`;
      throw new Refusal(ASK_REFUSALS.busy, message);
    }
    const release = this.#reserve(action === 'pull' ? 'pull' : server.root);
    try {
      const run = await this.#checked(order, server);
      const canCancel = action === 'pull' && server.library.stopsPulls;
      const activity = new Activity({ ...order, canCancel }, this.#parts.now);
      this.#keep(activity);
      void run(activity).finally(release);
      return activity;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** One pull of all servers at a time, and one other action of each. */
  #reserve(what: string): () => void {
    if (this.#busy.has(what)) {
      const running = what === 'pull' ? 'a pull' : 'an action on a model of this server';
      throw new Refusal(ASK_REFUSALS.busy, `${running} is under way. Wait for its end.`);
    }
    this.#busy.add(what);
    return () => void this.#busy.delete(what);
  }

  async #checked(
    order: Order,
    server: ModelServer,
  ): Promise<(activity: Activity) => Promise<void>> {
    const { action, model: name } = order;
    const kept = await this.#kept(server, true).catch((error: unknown) => {
      throw new Refusal('server_failed', faultText(error));
    });
    if (!kept.can.includes(action)) {
      throw new Refusal('not_offered', `this service does not offer to ${action} models.`);
    }
    if (action === 'pull') {
      await this.#checkPull(server, name, kept);
      return (activity) => this.#runs.pull(activity, server);
    }
    const model = kept.models.find((one) => one.name === name);
    if (model === undefined) {
      throw new Refusal('no_model', `its server has no model "${shown(name)}".`);
    }
    const fault = this.#faultOf(action, server, model);
    if (fault !== null) throw fault;
    return (activity) => this.#runs.change(activity, server, model);
  }

  async #checkPull(server: ModelServer, name: string, kept: LibraryModels): Promise<void> {
    const { pulled } = this.#parts;
    if (pulled.fault !== null) throw new Refusal('no_record', pulled.fault);
    const fault = nameFault(name);
    if (fault !== null) {
      throw new Refusal(
        'invalid_name',
        `"${shown(name)}" is not the name of a model here: ${fault}.`,
      );
    }
    const { library } = server;
    const wanted = library.canonical(name);
    if (kept.models.some((one) => library.canonical(one.name) === wanted)) {
      throw new Refusal('exists', `"${name}" is there already.`);
    }
    const room = await this.#runs.spaceFault(server, null);
    if (room !== null) throw room;
  }

  /** Why the action is not possible with this model now; null if it is. */
  #faultOf(action: ModelAction, server: ModelServer, model: LibraryModel): Refusal | null {
    const { name, loaded, isFixed } = model;
    if (action === 'pull') return new Refusal('exists', `"${name}" is there already.`);
    if (action === 'load') {
      return loaded === true ? new Refusal('loaded', `"${name}" is in memory already.`) : null;
    }
    const running = this.#runningOn(server, model);
    if (running > 0) {
      const message = `${running} of the gateway's requests run on "${name}". Wait for them.`;
      return new Refusal('in_use', message);
    }
    if (action === 'unload') {
      return loaded === false ? new Refusal('not_loaded', `"${name}" is not in memory.`) : null;
    }
    if (isFixed) return new Refusal('fixed', `its server cannot delete "${name}".`);
    const { settings, pulled } = this.#parts;
    if (settings.deleteAll || pulled.has(server.root, name)) return null;
    const message =
      `"${name}" was not pulled this way. Only its owner may delete it, on the machine; or set ` +
      '"delete_models": true there.';
    return new Refusal('not_pulled_here', message);
  }

  async *#cancel({ args }: Parameters<Answerer>[0]): ReturnType<Answerer> {
    if (!this.#parts.settings.manage) throw notManaging();
    const { action: id } = read(cancelArgs, args);
    const activity = this.#activities.find((one) => one.id === id);
    if (activity === undefined)
      throw new Refusal('no_action', 'there is no such pull. It has ended.');
    if (activity.isRunning && !activity.asked.canCancel) {
      throw new Refusal('not_offered', 'nothing stops this action.');
    }
    activity.stop(new Canceled());
    yield { activity: activity.view() };
    await activity.over;
    return { activity: activity.view() };
  }

  #keep(activity: Activity): void {
    const running = this.#activities.filter((one) => one.isRunning);
    const ended = this.#activities.filter((one) => !one.isRunning);
    this.#activities = [...ended.slice(1 - this.#limits.keptActivities), ...running, activity];
  }

  /** Requests of the gateway. */
  #runningOn({ entries }: ModelServer, model: LibraryModel): number {
    const names = new Set(namesOf(model));
    const ids = new Map(
      entries.map(({ config, models }) => {
        const own = models.filter((one) => names.has(one.served_name)).map(({ id }) => id);
        return [config.id, new Set(own)] as const;
      }),
    );
    return this.#parts.uses().filter(({ serviceId, model: id, phase }) => {
      return phase !== 'spooled' && ids.get(serviceId ?? '')?.has(id) === true;
    }).length;
  }
}

interface Order {
  readonly action: ModelAction;
  readonly serviceId: string;
  readonly model: string;
  readonly by: string;
}

/** Of a name that a coordinator sends, in a log or a message. */
const MAX_LOGGED = 200;

function shown(name: string): string {
  return name.slice(0, MAX_LOGGED).replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}

/** Of all models in one answer; a REPLY has at most 256 KiB. */
const MAX_LISTED_BYTES = 160 * 1024;

/** Longer names are none of a library, and would not fit into the answer. */
function isTellable({ name }: LibraryModel): boolean {
  return name.length <= MAX_MODEL_NAME;
}

/** Null for what no disk and no memory has. */
function amountOf(bytes: number | null): number | null {
  return bytes !== null && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER ? bytes : null;
}

function notManaging(): Refusal {
  const message =
    'its owner has not turned this on: set "manage_models": true in the configuration there.';
  return new Refusal('not_enabled', message);
}

function faultText(error: unknown): string {
  return error instanceof LocalFailure ? error.message : 'the local server did not answer in time.';
}

function read<T>(schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new Refusal(ASK_REFUSALS.invalid, 'the arguments of the question are invalid.');
}
