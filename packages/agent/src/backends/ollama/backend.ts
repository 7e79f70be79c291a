/**
 * Ollama: its own lists report more than `/v1/models`, including which models are local and which
 * are cloud.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { advertise } from '../advertise.js';
import type { ListedModel } from '../advertise.js';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from '../backend.js';
import { LocalFailure } from '../backend.js';
import { serverRoot, probe, checkAnswer } from '../probe.js';
import { count, names, text } from '../loose-facts.js';
import { serveModel } from '../openai/vectors.js';
import { OwnApi } from '../own-api.js';
import { OllamaLibrary } from './library.js';

/** Ollama's default below 24 GiB of video memory; its API does not report the setting. */
const LEAST_CONTEXT = 4_096;

const tag = z.object({
  name: z.string().min(1),
  digest: text,
  remote_host: text,
  remote_model: text,
  capabilities: names,
});
const tags = z.object({ models: z.array(tag) });
const running = z.object({
  models: z.array(z.object({ name: z.string(), context_length: count })),
});
const details = z.object({
  capabilities: names,
  model_info: z.record(z.string(), z.unknown()).nullish().catch(null),
});

type Tag = z.infer<typeof tag>;
interface Details {
  readonly capabilities: readonly string[] | null;
  readonly maxContext: number | null;
}

export class OllamaBackend implements Backend {
  readonly library: OllamaLibrary;
  readonly #service: ServiceConfig;
  readonly #root: string;
  readonly #getOnly: boolean;
  /** By digest, for the models listed last. */
  #details = new Map<string, Details>();
  /** The context with which each model was last seen running. */
  #contexts = new Map<string, number>();

  /** `getOnly`: do not query models whose list entry lacks their capabilities. */
  constructor(service: ServiceConfig, { getOnly = false }: { readonly getOnly?: boolean } = {}) {
    this.#service = service;
    this.#root = serverRoot(service.baseUrl);
    this.library = new OllamaLibrary(new OwnApi({ root: this.#root, apiKey: service.apiKey }));
    this.#getOnly = getOnly;
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const listed = (await this.#get('/api/tags', tags, signal)).models;
    const { models } = await this.#get('/api/ps', running, signal);
    const loaded = new Set(models.map(({ name }) => name));
    for (const { name, context_length: context } of models) {
      if (context) this.#contexts.set(name, context);
    }
    const local = listed.filter((model) => !isCloud(model));
    this.#forget(local);
    const seen: ListedModel[] = [];
    for (const model of local) {
      const told = await this.#detailsOf(model, signal);
      if (works(told, this.#service.type)) seen.push(this.#listed(model.name, told, loaded));
    }
    return { models: advertise(seen, this.#service), slots: null };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const { apiKey, dropFields } = this.#service;
    const target = { baseUrl: `${this.#root}/v1`, apiKey, dropFields: new Set(dropFields) };
    return serveModel(target, call);
  }

  #listed(name: string, told: Details, loaded: ReadonlySet<string>): ListedModel {
    const can = (word: string) => told.capabilities?.includes(word) ?? false;
    const guess = Math.min(told.maxContext ?? LEAST_CONTEXT, LEAST_CONTEXT);
    return {
      servedName: name,
      contextLength: this.#contexts.get(name) ?? guess,
      inputModalities: told.capabilities && [
        'text',
        ...(can('vision') ? ['image'] : []),
        ...(can('audio') ? ['audio'] : []),
      ],
      supportedFeatures: [
        ...(can('tools') ? ['tools'] : []),
        ...(can('thinking') ? ['reasoning'] : []),
      ],
      loaded: loaded.has(name),
    };
  }

  /**
   * Newer versions report them in the list; older ones are asked once per model, which does not
   * load it.
   */
  async #detailsOf(model: Tag, signal: AbortSignal): Promise<Details> {
    if (model.capabilities) return { capabilities: model.capabilities, maxContext: null };
    const key = model.digest ?? model.name;
    const known = this.#details.get(key);
    if (known !== undefined) return known;
    if (this.#getOnly) return { capabilities: null, maxContext: null };
    const { apiKey } = this.#service;
    const body = { model: model.name };
    const answer = await probe(`${this.#root}/api/show`, { apiKey, signal, body });
    const { capabilities, model_info: info } = details.safeParse(answer.json).data ?? {};
    const told = { capabilities: capabilities ?? null, maxContext: contextOf(info ?? {}) };
    this.#details.set(key, told);
    return told;
  }

  /** Models change over months: the cache must not grow without limit. */
  #forget(listed: readonly Tag[]): void {
    const keys = new Set(listed.map(({ digest, name }) => digest ?? name));
    const names = new Set(listed.map(({ name }) => name));
    this.#details = new Map([...this.#details].filter(([key]) => keys.has(key)));
    this.#contexts = new Map([...this.#contexts].filter(([name]) => names.has(name)));
  }

  async #get<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const url = this.#root + path;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal });
    checkAnswer(answer, url);
    const parsed = schema.safeParse(answer.json);
    if (parsed.success) return parsed.data;
    throw new LocalFailure(
      'LOCAL_ERROR',
      `${url} did not answer as Ollama does. Check the base URL.`,
    );
  }
}

/** Such models run on ollama.com, under the owner's account and at their cost. */
function isCloud({ name, remote_host: host, remote_model: remote }: Tag): boolean {
  return Boolean(host) || Boolean(remote) || /[-:]cloud$/.test(name);
}

/** Its word for models of each type; it has no others. */
const CAPABILITIES: Readonly<Partial<Record<ServiceType, string>>> = {
  llm: 'completion',
  embedding: 'embedding',
};

/** Image models are listed, but Ollama refuses to run them. Old versions tell nothing. */
function works({ capabilities }: Details, type: ServiceType): boolean {
  const wanted = CAPABILITIES[type];
  if (wanted === undefined || capabilities?.includes('image') === true) return false;
  return capabilities === null || capabilities.includes(wanted);
}

function contextOf(info: Readonly<Record<string, unknown>>): number | null {
  const entry = Object.entries(info).find(([key]) => key.endsWith('.context_length'));
  return typeof entry?.[1] === 'number' ? entry[1] : null;
}
