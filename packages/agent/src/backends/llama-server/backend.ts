/** llama.cpp's server and its forks, with one model or as a router of several. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { advertise, withoutPath } from '../advertise.js';
import type { ListedModel } from '../advertise.js';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from '../backend.js';
import { LocalFailure } from '../backend.js';
import { serverRoot, probe, checkAnswer } from '../probe.js';
import { tellCounting } from '../openai/counting.js';
import { LLAMA_CPP_DROPS } from '../openai/dialect.js';
import { asObject } from '../../openai-wire/json.js';
import { count, flag, text } from '../loose-facts.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import type { ModelItem } from '../model-list.js';
import type { ProbeAnswer } from '../probe.js';
import type { Dialect } from '../openai/dialect.js';
import { serveModel } from '../openai/vectors.js';
import { OwnApi } from '../own-api.js';
import { LlamaRouterLibrary } from './library.js';

/**
 * It checks the caller's connection of a plain call only after a second without any result, and
 * results of other streams count. With tools it refuses logprobs in a stream.
 */
const LLAMA_CPP_WAYS: Dialect = {
  counting: 'template',
  folds: ({ logprobs, tools }) => !logprobs || !holdsAny(tools),
};

/** A large list is `RawJson`. */
function holdsAny(tools: unknown): boolean {
  return Array.isArray(tools) ? tools.length > 0 : asObject(tools) !== null;
}

const props = z.object({
  role: text,
  model_alias: text,
  /** For a router: whether a request loads its model. */
  models_autoload: flag,
  /** Per slot: `-c` divided by `-np`. */
  default_generation_settings: z.object({ n_ctx: count }).nullish().catch(null),
  total_slots: z.int().positive().nullish().catch(null),
  modalities: z.object({ vision: flag, audio: flag, video: flag }).nullish().catch(null),
  chat_template_caps: z
    .object({ supports_tools: flag, supports_tool_calls: flag, supports_preserve_reasoning: flag })
    .nullish()
    .catch(null),
  is_sleeping: flag,
});

type Props = z.infer<typeof props>;

export class LlamaServerBackend implements Backend {
  readonly library: LlamaRouterLibrary;
  readonly #service: ServiceConfig;
  readonly #root: string;
  readonly #dropFields: ReadonlySet<string>;
  /**
   * The names of its one model, as last listed; null for a router, which runs the requested model.
   */
  #names: ReadonlySet<string> | null = null;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#root = serverRoot(service.baseUrl);
    this.library = new LlamaRouterLibrary(new OwnApi({ root: this.#root, apiKey: service.apiKey }));
    this.#dropFields = new Set([...service.dropFields, ...LLAMA_CPP_DROPS]);
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const own = await this.#props('/props', signal);
    const items = await this.#models(signal);
    const isRouter = own?.role === 'router';
    this.#names = isRouter || items.length === 0 ? null : namesOf(items, own);
    if (isRouter) return this.#routed(items.filter(reachable(own)), signal);
    const { type } = this.#service;
    const models = items.map((model) => single(model, own, type));
    return { models: this.#told(models), slots: own?.total_slots ?? null };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const { apiKey } = this.#service;
    const target = { baseUrl: `${this.#root}/v1`, apiKey, dropFields: this.#dropFields };
    return serveModel({ ...target, dialect: LLAMA_CPP_WAYS, names: this.#names }, call);
  }

  /**
   * With `--embeddings` it also answers chats, but with nonsense: no list and no property shows it.
   * Without the flag it answers 501 to an embedding request.
   */
  async unfit(
    { served_name: model, output_modalities: outputs }: AdvertisedModel,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (!outputs.includes('text')) return null;
    const body = { model, input: 'ok' };
    const url = `${this.#root}/v1/embeddings`;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal, body });
    return makesEmbeddings(answer) ? EMBEDS : null;
  }

  /** Each loaded model of a router is a separate server with its own slots on the same card. */
  async #routed(items: readonly ModelItem[], signal: AbortSignal): Promise<Description> {
    const models: ListedModel[] = [];
    const { type } = this.#service;
    let slots: number | null = null;
    for (const model of items) {
      const listed = readListedModel(model, type);
      const query = `/props?model=${encodeURIComponent(model.id)}&autoload=false`;
      const own = listed.loaded === true ? await this.#props(query, signal) : null;
      if (own?.total_slots) slots = Math.max(slots ?? 0, own.total_slots);
      models.push(own === null ? listed : { ...withProps(listed, own), loaded: true });
    }
    return { models: this.#told(models), slots };
  }

  /** Versions before 2025 do not count: they answer the question with 404. */
  #told(models: readonly ListedModel[]): AdvertisedModel[] {
    const advertised = advertise(models, this.#service);
    return tellCounting(advertised, this.#service, LLAMA_CPP_WAYS.counting);
  }

  async #models(signal: AbortSignal): Promise<ModelItem[]> {
    const url = `${this.#root}/v1/models`;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal });
    checkAnswer(answer, url);
    const items = readModelList(answer.json);
    if (items !== null) return items.filter((item) => fitsType(item, this.#service.type));
    throw new LocalFailure('LOCAL_ERROR', `${url} is not a list of models. Check the base URL.`);
  }

  /** Null if the server has no properties: forks of older versions lack them. */
  async #props(path: string, signal: AbortSignal): Promise<Props | null> {
    const url = this.#root + path;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal });
    if (answer.status !== 404) checkAnswer(answer, url);
    return props.safeParse(answer.json).data ?? null;
  }
}

/** Without the flag, forks of old versions return zeros; they check the pooling after the flag. */
function makesEmbeddings({ status, json, text: said }: ProbeAnswer): boolean {
  if (status === 400) return /\bpooling type\b/i.test(said);
  const vectors = embeddings.safeParse(json).data?.data ?? [];
  return status === 200 && vectors.flatMap(({ embedding }) => embedding.flat()).some(Boolean);
}

const embeddings = z.object({
  data: z.array(z.object({ embedding: z.array(z.union([z.number(), z.array(z.number())])) })),
});
const EMBEDS =
  'it was started with --embeddings, so it makes embeddings and does not chat. Start it without, ' +
  'or set its type to embedding.';

function namesOf(items: readonly ModelItem[], own: Props | null): ReadonlySet<string> {
  const ids = items.map(({ id }) => id);
  const aliases = items.flatMap((item) => item.aliases ?? []);
  const names = [...ids, ...aliases, ...(own?.model_alias ? [own.model_alias] : [])];
  return new Set([...names, ...names.map(withoutPath)]);
}

/** The models of a router that a request can reach. */
function reachable({ models_autoload: autoload }: Props) {
  return ({ status }: ModelItem): boolean =>
    status?.value !== 'downloading' && (autoload !== false || status?.value !== 'unloaded');
}

/**
 * A server with one model ignores the name in requests, so the model's path need not leave the
 * machine.
 */
function single(model: ModelItem, own: Props | null, type: ServiceType): ListedModel {
  const listed = { ...readListedModel(model, type), servedName: withoutPath(model.id) };
  return own === null ? listed : withProps(listed, own);
}

const INPUTS = [
  ['vision', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
] as const;

function withProps(listed: ListedModel, own: Props): ListedModel {
  const { default_generation_settings: settings, modalities, chat_template_caps: caps } = own;
  const hasTools = caps?.supports_tools || caps?.supports_tool_calls;
  return {
    servedName: listed.servedName,
    contextLength: settings?.n_ctx || (listed.contextLength ?? null),
    // Versions without image input do not report modalities.
    inputModalities: modalities
      ? ['text', ...INPUTS.flatMap(([name, input]) => (modalities[name] ? [input] : []))]
      : (listed.inputModalities ?? null),
    supportedFeatures: [
      ...(listed.supportedFeatures ?? []),
      ...(hasTools ? ['tools'] : []),
      ...(caps?.supports_preserve_reasoning ? ['reasoning'] : []),
    ],
    loaded: own.is_sleeping !== true,
  };
}
