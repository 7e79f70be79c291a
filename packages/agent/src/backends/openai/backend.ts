/**
 * Any server that speaks OpenAI's API, each service of one type. A dialect holds what is special
 * about a program; for a server without a dialect only its list of models is used.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKind } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { AudioConverter } from '../../media/audio-converter.js';
import { notServed } from '../../openai-wire/error-document.js';
import { advertise } from '../advertise.js';
import { askedServer, listPlainly } from './list.js';
import type {
  Backend,
  Description,
  LocalAnswer,
  LocalCall,
  ModelLibrary,
  ServiceConfig,
} from '../backend.js';
import { serverRoot } from '../probe.js';
import { countTokens, tellCounting } from './counting.js';
import type { Dialect, Listing } from './dialect.js';
import { refuseVoiceFile, isMlxAudio, listVoices, voicesOf } from './voices.js';
import { makeFilm, makeImages, makeMusic, speak, transcribe } from './media.js';
import type { MediaTarget } from './send.js';
import { embed, rerank } from './vectors.js';
import { runCall } from '../run-call.js';
import { LLAMA_SWAP } from '../llama-swap/dialect.js';
import { SGLANG } from '../sglang/dialect.js';
import { VLLM } from '../vllm/dialect.js';
import { LLAMA_CPP_DROPS } from './dialect.js';
import type { ListedVoice } from './voices.js';

/** The owner name that mlx-audio, among others, gives its models. */
const MLX_OWNER = 'system';

/** The rest of the time is for the list of models: a server can speak without a list of voices. */
const VOICES_TIMEOUT_MS = 2_000;

type Serve = (target: MediaTarget, call: LocalCall) => Promise<LocalAnswer>;

/** Voices are listed with the models: no call requests them. */
const SERVES: Readonly<Record<EndpointKind, Serve | null>> = {
  chat: runCall,
  count: countTokens,
  completion: runCall,
  transcript: transcribe,
  translation: transcribe,
  voices: null,
  images: makeImages,
  speech: speak,
  film: makeFilm,
  music: makeMusic,
  embeddings: embed,
  rerank,
};

export class OpenAiBackend implements Backend {
  readonly library: ModelLibrary | undefined;
  readonly #service: ServiceConfig;
  readonly #converter: AudioConverter;
  readonly #dialect: Dialect;
  #dropFields: ReadonlySet<string>;
  /** As last listed: a server too busy to list its voices still has them. */
  #voices: readonly ListedVoice[] = [];
  #mayBeMlx = false;
  /** As last listed. */
  #mostInputs: number | undefined;
  /** As last listed; null if the model names in its answers are not checked. */
  #names: ReadonlySet<string> | null = null;

  constructor(service: ServiceConfig, converter: AudioConverter, dialect: Dialect = {}) {
    this.#service = service;
    this.#converter = converter;
    this.#dialect = dialect;
    const { apiKey, baseUrl } = service;
    this.library = dialect.library?.({ root: serverRoot(baseUrl), apiKey });
    this.#dropFields = new Set([...service.dropFields, ...(dialect.dropFields ?? [])]);
  }

  get messages(): Dialect['messages'] {
    return this.#dialect.messages;
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const { models: listed, slots, mostInputs } = await this.#list(signal);
    this.#mostInputs = mostInputs;
    const advertised = advertise(listed, this.#service);
    const models = tellCounting(advertised, this.#service, this.#dialect.counting);
    if (this.#dialect.namesItself) this.#names = new Set(listed.map((one) => one.servedName));
    if (this.#service.type !== 'tts') return { models, slots };
    if (models.some(({ voices }) => voices === undefined)) await this.#listVoices(signal);
    return { models: models.map((model) => this.#speaking(model)), slots };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const { baseUrl, apiKey, type } = this.#service;
    const { serviceType, kind } = ENDPOINTS[call.endpoint];
    const serve = SERVES[kind];
    if (serviceType !== type || serve === null) return notServed(call);
    const dialect = this.#dialect;
    const refused = dialect.refuse === undefined ? refuseVoiceFile(call) : dialect.refuse(call);
    if (refused !== null) return refused;
    const target = { baseUrl, apiKey, dropFields: this.#dropFields, dialect, names: this.#names };
    const most = this.#mostInputs;
    const limits = most === undefined ? {} : { mostInputs: most };
    return serve({ ...target, ...limits, converter: this.#converter }, call);
  }

  async #list(signal: AbortSignal): Promise<Listing> {
    const service = this.#service;
    if (this.#dialect.list !== undefined) return this.#dialect.list(askedServer(service, signal));
    const listing = await listPlainly(service, signal);
    this.#dropFields = new Set([...this.#dropFields, ...dropsOf(listing.owners)]);
    this.#mayBeMlx = listing.owners.has(MLX_OWNER);
    return listing;
  }

  async #listVoices(signal: AbortSignal): Promise<void> {
    if (this.#dialect.voices !== undefined) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(VOICES_TIMEOUT_MS)]);
      const asking = this.#dialect.voices(askedServer(this.#service, limited));
      this.#voices = await asking.catch(() => this.#voices);
      return;
    }
    const { baseUrl, apiKey } = this.#service;
    const asking = { apiKey, signal };
    if (this.#mayBeMlx && (await isMlxAudio(baseUrl, asking))) return;
    this.#voices = (await listVoices(baseUrl, asking)) ?? this.#voices;
  }

  /** What a speech model reports beyond the list of models. */
  #speaking(model: AdvertisedModel): AdvertisedModel {
    const voices = model.voices ?? voicesOf(model.served_name, this.#voices);
    return {
      ...model,
      ...(voices.length > 0 && { voices }),
    };
  }
}

// Which program an `openai` service is, if its list identifies it.

const DROPS_OF_OWNER = new Map<string, readonly string[] | undefined>([
  ['vllm', VLLM.dropFields],
  ['sglang', SGLANG.dropFields],
  ['llamacpp', LLAMA_CPP_DROPS],
  ['llama-swap', LLAMA_SWAP.dropFields],
  // Docker Model Runner runs llama.cpp or vLLM.
  ['docker', [...LLAMA_CPP_DROPS, ...(VLLM.dropFields ?? [])]],
]);

/** The fields dropped by the dialects of these model owners. */
function dropsOf(owners: ReadonlySet<string>): readonly string[] {
  return [...owners].flatMap((owner) => DROPS_OF_OWNER.get(owner) ?? []);
}
