/**
 * ComfyUI. It knows no model that takes a prompt, only graphs of nodes, which can run code and read
 * files. So what is offered is the owner's: workflows with places to fill, or, for images without
 * any, each checkpoint through a plain graph of ours. A caller never sends a graph.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { notServed } from '../../openai-wire/error-document.js';
import { asObject, asText } from '../../openai-wire/json.js';
import { advertise } from '../advertise.js';
import type { ListedModel } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from '../backend.js';
import { checkAnswer } from '../check-answer.js';
import { probe } from '../probe.js';
import { serverRoot } from '../server-root.js';
import { withoutFields } from '../../openai-wire/without-fields.js';
import { fileOf, readCheckpoints } from './checkpoints.js';
import type { ComfyServer } from './comfy-server.js';
import { imageToImage, textToImage } from './default-graph.js';
import { makeMedia } from './make-media.js';
import { uploadPictures } from './pictures.js';
import { placeholdersOf } from './placeholders.js';
import type { Graph } from './placeholders.js';
import { requestValues } from './request-values.js';

export class ComfyUiBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #server: ComfyServer;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#server = { root: serverRoot(service.baseUrl), apiKey: service.apiKey };
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const { system } = asObject(await this.#get('/system_stats', signal)) ?? {};
    if (asText(asObject(system)?.['comfyui_version']) === null) {
      const message = `${this.#server.root} is not ComfyUI. Check the base URL.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const { workflows, type } = this.#service;
    if (workflows.length > 0) {
      return { models: advertise(workflows.map(listed), this.#service), slots: 1 };
    }
    if (type !== 'image') return { models: [], slots: 1 };
    const checkpoints = readCheckpoints(await this.#get('/models/checkpoints', signal));
    const models = advertise(
      checkpoints.map(({ name }) => ({ servedName: name })),
      this.#service,
    );
    return { models: models.map((model) => fileOf(model, checkpoints)), slots: 1 };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const { serviceType, media } = ENDPOINTS[call.endpoint];
    const body = withoutFields(call.body, this.#service.dropFields);
    const graph = this.#graphFor({ ...call, body });
    if (serviceType !== this.#service.type || media === null || graph === null) {
      return notServed(call);
    }
    const places = placeholdersOf(graph);
    const pictures = await uploadPictures(this.#server, { ...call, body }, places);
    if ('kind' in pictures) return pictures;
    const values = new Map([...requestValues(body, graph), ...pictures]);
    const wanted = media === 'image' ? Number(values.get('n') ?? 1) : 1;
    const { signal } = call;
    return makeMedia(this.#server, { graph, values, family: media, wanted, signal });
  }

  #graphFor({ model, endpoint, body, uploads }: LocalCall): Graph | null {
    const { workflows } = this.#service;
    const name = model.served_name;
    if (workflows.length > 0) return workflows.find(({ id }) => id === name)?.graph ?? null;
    if (endpoint !== 'edits') return textToImage(name);
    const isSized = asText(body['size']) !== null;
    return imageToImage(name, { isSized, isMasked: uploads.some((one) => one.name === 'mask') });
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const { root, apiKey } = this.#server;
    const answer = await probe(root + path, { apiKey, signal });
    checkAnswer(answer, root + path);
    return answer.json;
  }
}

function listed({ id, graph }: ServiceConfig['workflows'][number]): ListedModel {
  const takesPictures = placeholdersOf(graph).some(({ name }) => name.startsWith('image'));
  return { servedName: id, ...(takesPictures && { inputModalities: ['text', 'image'] }) };
}
