/** Stable Diffusion's web UI by AUTOMATIC1111 and its kin: Forge, reForge, SD.Next. */
import { randomUUID } from 'node:crypto';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import { withoutMetadata } from '../../media/without-metadata.js';
import { readFailure, readImages } from './answer.js';
import { imageCount, imageToImage, textToImage } from './request.js';
import { notServed } from '../../openai-wire/error-document.js';
import { asObject, asText } from '../../openai-wire/json.js';
import { advertise } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  MediaPart,
  ServiceConfig,
} from '../backend.js';
import { checkAnswer } from '../check-answer.js';
import { inPieces } from '../in-pieces.js';
import { probe } from '../probe.js';
import { serverRoot } from '../server-root.js';
import { withoutFields } from '../../openai-wire/without-fields.js';
import { readCheckpoints, withTitle } from './checkpoints.js';
import { readEdit } from './edit.js';
import { runJob } from './job.js';
import type { Job, WebUi } from './job.js';

export class Automatic1111Backend implements Backend {
  readonly #service: ServiceConfig;
  readonly #ui: WebUi;

  constructor(service: ServiceConfig) {
    this.#service = service;
    const root = serverRoot(service.baseUrl).replace(/\/sdapi$/, '');
    this.#ui = { root, apiKey: service.apiKey };
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const checkpoints = readCheckpoints(await this.#get('/sdapi/v1/sd-models', signal));
    const options = asObject(await this.#get('/sdapi/v1/options', signal));
    const current = asText(options?.['sd_model_checkpoint']);
    const listed = checkpoints.map(({ name, title }) => ({
      servedName: name,
      loaded: current === null ? null : current === title || current === name,
    }));
    const models = advertise(listed, this.#service);
    return { models: models.map((model) => withTitle(model, checkpoints)), slots: 1 };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const body = withoutFields(call.body, this.#service.dropFields);
    const job = await createJob({ ...call, body });
    if ('kind' in job) return job;
    const { status, text } = await runJob(this.#ui, job, call.signal);
    if (status >= 400) return readFailure(status, text);
    return { kind: 'media', parts: parts(readImages(text, imageCount(call.body))) };
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const { root, apiKey } = this.#ui;
    const url = root + path;
    const answer = await probe(url, { apiKey, keyScheme: 'basic', signal });
    if (answer.status === 404) {
      throw new LocalFailure('LOCAL_ERROR', `${url} answered 404. Start the web UI with --api.`);
    }
    checkAnswer(answer, url);
    return answer.json;
  }
}

/** Or what is wrong with the request. */
async function createJob(call: LocalCall): Promise<Job | DocumentAnswer> {
  const taskId = `task(gateway-${randomUUID()})`;
  if (call.endpoint === 'images') {
    return { path: 'txt2img', taskId, body: JSON.stringify(textToImage(call, taskId)) };
  }
  if (call.endpoint === 'edits') {
    const read = await readEdit(call);
    if (read.kind === 'refused') return read.answer;
    const body = JSON.stringify(imageToImage(call, taskId, read.edited));
    return { path: 'img2img', taskId, body };
  }
  return notServed(call);
}

/** Decoded one by one. */
async function* parts(images: readonly string[]): AsyncGenerator<MediaPart, void, void> {
  for (const image of images) {
    const bytes = withoutMetadata(Buffer.from(image, 'base64'));
    const format = detectFormat(bytes);
    const contentType = format === null ? null : contentTypeOf(format, 'image');
    if (contentType === null) {
      throw new LocalFailure('LOCAL_ERROR', 'the local server answered something but no image.');
    }
    yield { contentType, revisedPrompt: null, bytes: inPieces(bytes) };
  }
}
