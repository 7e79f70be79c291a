/**
 * ACE-Step 1.5: music. The API creates a task, is polled until the task ends, and then serves the
 * file; the agent hides this from callers. The server runs one task at a time and cannot cancel a
 * task.
 */
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import { startOf } from '../../media/start-of.js';
import { refusal } from '../../openai-wire/error-document.js';
import { advertise } from '../advertise.js';
import type { ListedModel } from '../advertise.js';
import { askedServer } from '../openai/list.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  LocalAnswer,
  LocalCall,
  MediaPart,
  ServiceConfig,
  DocumentAnswer,
} from '../backend.js';
import { fetchOwnFile } from '../openai/answer.js';
import { serverRoot } from '../probe.js';
import { serveOnly } from '../serving.js';
import { sizedWav } from '../sound-answer.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import type { AskedServer } from '../openai/dialect.js';
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

  call(call: LocalCall): Promise<LocalAnswer> {
    return serveOnly({ music: (music) => this.#compose(music) }, call);
  }

  async #compose(call: LocalCall): Promise<LocalAnswer> {
    const refused = refuseMusic(call.body);
    if (refused !== null) return refused;
    const { apiKey, dropFields } = this.#service;
    const fields = withoutFields(aceStepFields(call), dropFields);
    const server = { root: this.#root, apiKey };
    const outcome = await runTask(server, fields, call.signal);
    if (typeof outcome !== 'string') return outcome;
    return { kind: 'media', parts: this.#file(outcome, call.signal) };
  }

  /** Fetches only from the server's own origin: the path in the address is a path on its disk. */
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

// The models of ACE-Step. It wraps this answer as it wraps every answer.

/**
 * Only loaded models: the others are folder names, and for these older versions silently use the
 * loaded model. Newer versions have OpenRouter's list at the usual path, and their own at another.
 */
async function listAceStepModels({ root, get, find }: AskedServer): Promise<ListedModel[]> {
  const usual = `${root}/v1/models`;
  const models =
    readModels(await get(usual)) ?? readModels(await find(`${root}/v1/model_inventory`));
  if (models === null) {
    throw new LocalFailure('LOCAL_ERROR', `${usual} is not ACE-Step's. Check the base URL.`);
  }
  return models.flatMap(({ name, is_loaded: isLoaded }) => {
    const servedName = asText(name);
    if (servedName === null || isLoaded === false) return [];
    return [{ servedName, loaded: isLoaded === true ? true : null }];
  });
}

/** Null if the list is another server's. */
function readModels(json: unknown): JsonObject[] | null {
  const models = asObject(asObject(json)?.['data'])?.['models'];
  return Array.isArray(models) ? asObjects(models) : null;
}

// A music request in the fields of ACE-Step 1.5.

/** Limits of the server, in seconds. */
const SHORTEST_S = 10;

const LONGEST_S = 600;

/** The content type of the answer names the actual format, if the caller asked for another one. */
const FORMATS: ReadonlySet<unknown> = new Set(['mp3', 'wav', 'flac', 'opus', 'aac']);

/**
 * Passed on unchanged. Others, such as `src_audio_path` and `lm_model_path`, name files on the
 * owner's disk, or change which model is loaded.
 */
const OWN_FIELDS = ['lyrics', 'vocal_language', 'thinking', 'bpm', 'key_scale', 'time_signature'];

/** A caller must not occupy the card for hours; the server's own models have no higher limits. */
const NUMBERS = { inference_steps: { from: 1, to: 200 }, guidance_scale: { from: 0, to: 30 } };

/** Asks for one piece: the server's default is two. */
function aceStepFields({ body, model }: LocalCall): JsonObject {
  const own = OWN_FIELDS.filter((name) => isPlain(body[name]));
  const { seed, audio_duration: seconds, audio_format: format } = body;
  return {
    prompt: asText(body['prompt']) ?? '',
    model: model.served_name,
    batch_size: 1,
    ...Object.fromEntries(own.map((name) => [name, body[name]])),
    ...(typeof seconds === 'number' && { audio_duration: seconds }),
    ...numbers(body),
    ...(FORMATS.has(format) && { audio_format: format }),
    ...(typeof seed === 'number' && seed >= 0 && { seed, use_random_seed: false }),
  };
}

/** Null if nothing is refused. */
function refuseMusic({ audio_duration: seconds }: LocalCall['body']): DocumentAnswer | null {
  if (typeof seconds !== 'number') return null;
  if (seconds >= SHORTEST_S && seconds <= LONGEST_S) return null;
  const message = `'audio_duration' is ${seconds}. Send ${SHORTEST_S} to ${LONGEST_S} seconds.`;
  return refusal(400, message, { code: 'invalid_value', param: 'audio_duration' });
}

function numbers(body: LocalCall['body']): JsonObject {
  const given = Object.entries(NUMBERS).flatMap(([name, { from, to }]) => {
    const value = body[name];
    return typeof value === 'number' ? [[name, Math.min(Math.max(value, from), to)] as const] : [];
  });
  return Object.fromEntries(given);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
