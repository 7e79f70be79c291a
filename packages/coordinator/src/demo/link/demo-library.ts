/** The models on a demo machine's disk, and what their owner does with them from the dashboard. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { ASK_REFUSALS } from '@inference-gateway/shared/protocol/asks';
import type { Question, Reply } from '@inference-gateway/shared/protocol/asks';
import {
  cancelArgs,
  MODEL_ACTIONS,
  modelArgs,
  MODELS_CANCEL,
  MODELS_LIST,
} from '@inference-gateway/shared/protocol/model-asks';
import type {
  ModelAction,
  ModelActivity,
  ModelsBody,
} from '@inference-gateway/shared/protocol/model-asks';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { setTimeout as pause } from 'node:timers/promises';
import { librariesOf, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';

const GIB = 1_024 ** 3;

/** What the owner allows, and the disk. */
const MAX_BYTES = 100 * GIB;
const MIN_FREE_BYTES = 20 * GIB;
const DISK_FREE_BYTES = 380 * GIB;

const LOAD_MS = 1_500;
const UNLOAD_MS = 300;
const STEP_MS = 250;
/** About what a fast line brings. */
const PULL_BYTES_A_STEP = 90 * 1_024 ** 2;

/** Actions that are told, those that run included. */
const MAX_ACTIVITIES = 8;

/** Quantized to four bits: about this many bytes a parameter. */
const BYTES_A_PARAMETER = 0.58;
const DEFAULT_PARAMETERS = 7e9;
const BILLION = 1e9;

/** The agent's rule in short: one or two segments and a tag, no host. */
const NAME = /^(?:\w[\w-]*\/)?\w[\w.-]*(?::\w[\w.-]*)?$/;

/** What the machines have beside the models that they offer. */
const ON_DISK = ['phi-4-mini-instruct', 'qwen2.5-7b-instruct'] as const;

interface Kept {
  readonly name: string;
  readonly bytes: number;
  isLoaded: boolean;
  readonly isPulled: boolean;
}

interface LibraryParts {
  readonly machine: Machine;
  /** Running requests for a model. */
  readonly runningOn: (model: string) => number;
  /** The list of offered models has changed. */
  readonly onChange: () => void;
}

export class DemoLibrary {
  readonly #parts: LibraryParts;
  /** By service id, then by name. */
  readonly #servers: ReadonlyMap<string, Map<string, Kept>>;
  #activities: readonly ModelActivity[] = [];
  readonly #canceled = new Set<string>();

  constructor(parts: LibraryParts) {
    this.#parts = parts;
    const ids = librariesOf(parts.machine);
    const services = servicesOf(parts.machine).filter((one) => ids.includes(one.service_id));
    this.#servers = new Map(
      services.map(({ service_id: id, models }) => {
        const offered = models.map(({ id: name }) => keptOf(name, { isLoaded: true }));
        const others = ON_DISK.map((name) => keptOf(name, { isLoaded: false }));
        return [id, new Map([...offered, ...others].map((one) => [one.name, one]))];
      }),
    );
  }

  /** The machine's services with what was pulled. */
  services(): AdvertisedService[] {
    return servicesOf(this.#parts.machine).map((service) => {
      const kept = [...(this.#servers.get(service.service_id)?.values() ?? [])];
      const [like] = service.models;
      if (like === undefined) return service;
      const pulled = kept.filter(({ isPulled }) => isPulled).map((one) => advertisedAs(one, like));
      const models = service.models.map((model) => {
        const { isLoaded = true } = kept.find(({ name }) => name === model.id) ?? {};
        return { ...model, loaded: isLoaded };
      });
      return { ...service, models: [...models, ...pulled] };
    });
  }

  /** Answers at once, and goes on until the action has ended. */
  asked({ topic, args, by }: Question, reply: (reply: Reply) => void): void {
    const answer = (body: Record<string, unknown>): void => reply({ last: true, body });
    try {
      if (topic === MODELS_LIST) return answer(this.#list());
      if (topic === MODELS_CANCEL) return answer({ activity: this.#cancel(args) });
      const action = MODEL_ACTIONS.find((one) => topic === `models.${one}`);
      if (action === undefined) {
        const message = 'the demo does not know the question.';
        throw new DemoRefusal(ASK_REFUSALS.unknown, message);
      }
      void this.#act(this.#begin(action, { args, by }), reply);
    } catch (error) {
      if (!(error instanceof DemoRefusal)) throw error;
      reply({ last: true, refusal: { code: error.code, message: error.message } });
    }
    return undefined;
  }

  #list(): ModelsBody {
    const used = this.#pulledBytes();
    return {
      manages: true,
      deletes_all: false,
      max_bytes: MAX_BYTES,
      min_free_bytes: MIN_FREE_BYTES,
      used_bytes: used,
      servers: [...this.#servers].map(([id, kept]) => ({
        service_id: id,
        services: [id],
        backend: 'ollama',
        can: [...MODEL_ACTIONS],
        fault: null,
        free_bytes: DISK_FREE_BYTES - used,
        models: [...kept.values()].map((one) => this.#view(one)),
      })),
      shortened: false,
      activities: [...this.#activities],
    };
  }

  #view(kept: Kept): ModelsBody['servers'][number]['models'][number] {
    const { name, bytes, isLoaded, isPulled } = kept;
    const running = this.#parts.runningOn(name);
    const can: ModelAction[] = isLoaded ? [] : ['load'];
    if (isLoaded && running === 0) can.push('unload');
    if (isPulled && running === 0) can.push('delete');
    return {
      name,
      bytes,
      loaded: isLoaded,
      memory_bytes: isLoaded ? Math.round(bytes * 1.15) : null,
      running,
      pulled_here: isPulled,
      can,
    };
  }

  #begin(action: ModelAction, { args, by }: Pick<Question, 'args' | 'by'>): ModelActivity {
    const read = modelArgs.safeParse(args);
    const kept = read.success ? this.#servers.get(read.data.service_id) : undefined;
    if (!read.success || kept === undefined) {
      throw new DemoRefusal('no_service', 'this machine manages no models of that service.');
    }
    const { service_id: serviceId, model } = read.data;
    const known = kept.get(model);
    if (action === 'pull') this.#checkPull(model, known);
    else if (known === undefined) {
      throw new DemoRefusal('no_model', `its server has no model "${model}".`);
    } else if (!this.#view(known).can.includes(action)) {
      throw new DemoRefusal('not_offered', `"${model}" cannot be ${DONE[action]} now.`);
    }
    const isPull = action === 'pull';
    const activity: ModelActivity = {
      id: randomId(),
      action,
      service_id: serviceId,
      model,
      by,
      state: 'running',
      phase: isPull ? 'transferring' : 'starting',
      bytes: isPull ? 0 : null,
      total_bytes: isPull ? bytesOf(model) : null,
      bytes_per_second: null,
      can_cancel: isPull,
      message: null,
      started_at: SYSTEM_CLOCK.now(),
      ended_at: null,
    };
    const running = this.#activities.filter(({ state }) => state === 'running');
    const ended = this.#activities.filter(({ state }) => state !== 'running');
    this.#activities = [...ended.slice(running.length + 1 - MAX_ACTIVITIES), ...running, activity];
    return activity;
  }

  #checkPull(model: string, known: Kept | undefined): void {
    if (!NAME.test(model)) {
      const message = `"${model}" is not the name of a model here: it is like "model:tag".`;
      throw new DemoRefusal('invalid_name', message);
    }
    if (known !== undefined) throw new DemoRefusal('exists', `"${model}" is there already.`);
    if (this.#activities.some((one) => one.action === 'pull' && one.state === 'running')) {
      throw new DemoRefusal(ASK_REFUSALS.busy, 'a pull is under way. Wait for its end.');
    }
    if (this.#pulledBytes() + bytesOf(model) > MAX_BYTES) {
      const most = MAX_BYTES / GIB;
      throw new DemoRefusal('no_room', `pulled models may have ${most} GiB together.`);
    }
  }

  async #act(begun: ModelActivity, reply: (reply: Reply) => void): Promise<void> {
    reply({ last: false, body: { activity: begun } });
    const activity =
      begun.action === 'pull' ? await this.#pull(begun, reply) : await this.#change(begun);
    reply({ last: true, body: { activity } });
    this.#parts.onChange();
  }

  async #change(begun: ModelActivity): Promise<ModelActivity> {
    const { action, service_id: serviceId, model } = begun;
    await pause(action === 'load' ? LOAD_MS : UNLOAD_MS, undefined, { ref: false });
    const kept = this.#servers.get(serviceId);
    const one = kept?.get(model);
    if (one !== undefined) one.isLoaded = action === 'load';
    if (action === 'delete') kept?.delete(model);
    return this.#replace({ ...begun, ...this.#ended('done') });
  }

  async #pull(begun: ModelActivity, reply: (reply: Reply) => void): Promise<ModelActivity> {
    let activity = begun;
    const total = begun.total_bytes ?? 0;
    for (let bytes = 0; bytes < total; bytes += PULL_BYTES_A_STEP) {
      const rate = (PULL_BYTES_A_STEP * 1_000) / STEP_MS;
      activity = this.#replace({ ...activity, bytes, bytes_per_second: rate });
      reply({ last: false, body: { activity } });
      await pause(STEP_MS, undefined, { ref: false });
      if (!this.#canceled.delete(begun.id)) continue;
      return this.#replace({ ...activity, ...this.#ended('canceled') });
    }
    const pulled = keptOf(begun.model, { isLoaded: false, isPulled: true });
    this.#servers.get(begun.service_id)?.set(pulled.name, pulled);
    return this.#replace({ ...activity, bytes: total, ...this.#ended('done') });
  }

  #ended(state: 'done' | 'canceled') {
    const ended_at = SYSTEM_CLOCK.now();
    return { state, ended_at, bytes_per_second: null, can_cancel: false } as const;
  }

  #cancel(args: Question['args']): ModelActivity {
    const read = cancelArgs.safeParse(args);
    const activity = this.#activities.find(({ id }) => read.success && id === read.data.action);
    if (activity === undefined) {
      throw new DemoRefusal('no_action', 'there is no such pull. It has ended.');
    }
    if (!activity.can_cancel) return activity;
    this.#canceled.add(activity.id);
    return this.#replace({ ...activity, ...this.#ended('canceled') });
  }

  #replace(changed: ModelActivity): ModelActivity {
    this.#activities = this.#activities.map((one) => (one.id === changed.id ? changed : one));
    return changed;
  }

  #pulledBytes(): number {
    const all = [...this.#servers.values()].flatMap((kept) => [...kept.values()]);
    return all.reduce((sum, { isPulled, bytes }) => sum + (isPulled ? bytes : 0), 0);
  }
}

class DemoRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const DONE = { load: 'loaded', unload: 'unloaded', delete: 'deleted' } as const;

function keptOf(name: string, more: { isLoaded: boolean; isPulled?: boolean }): Kept {
  return { name, bytes: bytesOf(name), isPulled: false, ...more };
}

/** By the parameters in its name: `llama-3.1-8b`, `qwen3:0.6b`. */
function bytesOf(name: string): number {
  const billions = /(?<size>\d+(?:\.\d+)?)b\b/i.exec(name)?.groups?.['size'];
  const parameters = billions === undefined ? DEFAULT_PARAMETERS : Number(billions) * BILLION;
  return Math.round(parameters * BYTES_A_PARAMETER);
}

/** A pulled model answers like the others of its service. */
function advertisedAs({ name, isLoaded }: Kept, like: AdvertisedModel): AdvertisedModel {
  return { ...like, id: name, served_name: name, supported_features: [], loaded: isLoaded };
}
