/**
 * Any server that speaks OpenAI's API: vLLM, SGLang, LM Studio, KoboldCpp, TabbyAPI and many more.
 */
import { advertise } from './advertise.js';
import { LocalFailure } from './backend.js';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from './backend.js';
import { checkAnswer } from './check-answer.js';
import { isLocalLlm, readListedModel, readModelList } from './model-list.js';
import type { ModelItem } from './model-list.js';
import { probe } from './probe.js';
import { runCall } from './run-call.js';

/** A template in the request would run on the owner's machine. */
const VLLM_DROPS = ['chat_template'];

export class OpenAiBackend implements Backend {
  readonly #service: ServiceConfig;
  #dropFields: ReadonlySet<string>;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#dropFields = new Set(service.dropFields);
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const items = await this.#list(signal);
    if (items.some((model) => model.owned_by === 'vllm')) {
      this.#dropFields = new Set([...this.#service.dropFields, ...VLLM_DROPS]);
    }
    const isLlm = this.#service.type === 'llm';
    const fitting = isLlm ? items.filter(isLocalLlm) : items;
    return { models: advertise(fitting.map(readListedModel), this.#service), slots: null };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const { baseUrl, apiKey } = this.#service;
    return runCall({ baseUrl, apiKey, dropFields: this.#dropFields }, call);
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
