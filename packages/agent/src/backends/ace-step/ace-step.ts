/**
 * ACE-Step 1.5: music. A piece is handed in, asked for until it is ready, and fetched; the agent
 * hides that from callers. It computes one after the other, and nothing that was handed in can be
 * taken back.
 */
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import { startOf } from '../../media/start-of.js';
import { aceStepFields, refuseMusic } from './request.js';
import { notServed } from '../../openai-wire/error-document.js';
import { advertise } from '../advertise.js';
import { askedServer } from '../openai/asked-server.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  LocalAnswer,
  LocalCall,
  MediaPart,
  ServiceConfig,
} from '../backend.js';
import { fetchOwnFile } from '../openai/fetch-own-file.js';
import { serverRoot } from '../server-root.js';
import { sizedWav } from '../sized-wav.js';
import { withoutFields } from '../../openai-wire/without-fields.js';
import { listAceStepModels } from './models.js';
import { runTask } from './task.js';

const DETECT_START_BYTES = 64;

export class AceStepBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #root: string;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#root = serverRoot(service.baseUrl);
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const listed = await listAceStepModels(askedServer(this.#service, signal));
    return { models: advertise(listed, this.#service), slots: 1 };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    if (call.endpoint !== 'music') return notServed(call);
    const refused = refuseMusic(call.body);
    if (refused !== null) return refused;
    const { apiKey, dropFields } = this.#service;
    const fields = withoutFields(aceStepFields(call), dropFields);
    const server = { root: this.#root, apiKey };
    const outcome = await runTask(server, fields, call.signal);
    if (typeof outcome !== 'string') return outcome;
    return { kind: 'media', parts: this.#file(outcome, call.signal) };
  }

  /** Only what it says is its own: the path in the address is one of its disk. */
  async *#file(url: string, signal: AbortSignal): AsyncGenerator<MediaPart, void, void> {
    const target = { baseUrl: this.#root, apiKey: this.#service.apiKey, dropFields: NO_FIELDS };
    const opened = await fetchOwnFile(target, url, signal);
    const { start, bytes } = await startOf(opened, DETECT_START_BYTES);
    const format = detectFormat(start);
    const contentType = format === null ? null : contentTypeOf(format, 'audio');
    if (contentType === null) {
      for await (const _piece of bytes) break;
      throw new LocalFailure('LOCAL_ERROR', 'the local server answered something but no music.');
    }
    yield { contentType, revisedPrompt: null, bytes: format === 'wav' ? sizedWav(bytes) : bytes };
  }
}

const NO_FIELDS: ReadonlySet<string> = new Set();
