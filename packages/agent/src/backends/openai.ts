/**
 * Any server that speaks OpenAI's API: vLLM, SGLang, LM Studio, speaches, Kokoro, LocalAI and many
 * more, each service of one type.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { AudioConverter } from '../media/ffmpeg.js';
import { notServed } from '../openai-wire/error-document.js';
import { advertise } from './advertise.js';
import { LocalFailure } from './backend.js';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from './backend.js';
import { checkAnswer } from './check-answer.js';
import { fitsType, readListedModel, readModelList } from './model-list.js';
import type { ModelItem } from './model-list.js';
import { mediaCall } from './openai-media.js';
import { probe } from './probe.js';
import { runCall } from './run-call.js';
import { isMlxAudio, listVoices, voicesOf } from './voice-list.js';
import type { ListedVoice } from './voice-list.js';

/** A template in the request would run on the owner's machine. */
const VLLM_DROPS = ['chat_template'];
/** How mlx-audio, among others, names the owner of its models. */
const MLX_OWNER = 'system';

export class OpenAiBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #ffmpeg: AudioConverter | null;
  #dropFields: ReadonlySet<string>;
  /** As last told: a server that is too busy to list its voices still has them. */
  #voices: readonly ListedVoice[] = [];

  /** Without ffmpeg a sound is answered only as the server makes it. */
  constructor(service: ServiceConfig, ffmpeg: AudioConverter | null) {
    this.#service = service;
    this.#ffmpeg = ffmpeg;
    this.#dropFields = new Set(service.dropFields);
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const items = await this.#list(signal);
    if (items.some((model) => model.owned_by === 'vllm')) {
      this.#dropFields = new Set([...this.#service.dropFields, ...VLLM_DROPS]);
    }
    const { type } = this.#service;
    const fitting = items.filter((item) => fitsType(item, type));
    const listed = fitting.map((item) => readListedModel(item, type));
    const models = advertise(listed, this.#service);
    if (type !== 'tts') return { models, slots: null };
    if (models.some(({ voices }) => voices === undefined)) await this.#listVoices(items, signal);
    return { models: models.map((model) => this.#speaking(model)), slots: null };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const { baseUrl, apiKey, type } = this.#service;
    if (ENDPOINTS[call.endpoint].serviceType !== type) return notServed(call);
    const target = { baseUrl, apiKey, dropFields: this.#dropFields, ffmpeg: this.#ffmpeg };
    return type === 'llm' ? runCall(target, call) : mediaCall(target, call);
  }

  get #makesOpus(): boolean {
    return this.#ffmpeg !== null && this.#ffmpeg.makesOpus !== false;
  }

  /** What a voice model says of itself beyond the list of models. */
  #speaking(model: AdvertisedModel): AdvertisedModel {
    const voices = model.voices ?? voicesOf(model.served_name, this.#voices);
    return {
      ...model,
      ...(voices.length > 0 && { voices }),
      // What else it makes is not known, and without ffmpeg nothing can be made of it.
      ...(!this.#makesOpus && { formats: ['wav'] }),
    };
  }

  async #listVoices(items: readonly ModelItem[], signal: AbortSignal): Promise<void> {
    const { baseUrl, apiKey } = this.#service;
    const asking = { apiKey, signal };
    const isSuspect = items.some((model) => model.owned_by === MLX_OWNER);
    if (isSuspect && (await isMlxAudio(baseUrl, asking))) return;
    this.#voices = (await listVoices(baseUrl, asking)) ?? this.#voices;
  }

  /** Configured models need no list; whatever it answers then shows that the server is up. */
  async #list(signal: AbortSignal): Promise<ModelItem[]> {
    const { apiKey, baseUrl, models } = this.#service;
    const url = `${baseUrl}/models`;
    const answer = await probe(url, { apiKey, signal });
    checkAnswer(answer, url, { trusted: models !== null });
    const items = readModelList(answer.json);
    if (items !== null || models !== null) return items ?? [];
    throw new LocalFailure(
      'LOCAL_ERROR',
      `${url} is not a list of models. Name models in the configuration.`,
    );
  }
}
