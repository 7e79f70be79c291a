/**
 * piper's own HTTP server. The current one takes JSON and lists its voices; older ones have one
 * path, which speaks any text that is sent to it.
 */
import type { AudioConverter } from '../../media/audio-converter.js';
import { errorDocument, refusal } from '../../openai-wire/error-document.js';
import { asObject, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { advertise } from '../advertise.js';
import { askedServer } from '../openai/list.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  ServiceConfig,
} from '../backend.js';
import { checkAnswer, probe, serverRoot } from '../probe.js';
import { serveOnly } from '../serving.js';
import { refuseVoice } from '../openai/voices.js';
import type { ForwardedAnswer } from '../forward.js';
import { madeSound, wantedFormat } from '../sound-answer.js';
import { forwardToEnd } from '../run-call.js';
import { readMade } from '../openai/answer.js';
import { readText } from '../openai/send.js';
import { inPieces } from '../bytes.js';
import type { FormBody } from '../multipart.js';
import { withoutFields } from '../../openai-wire/request-body.js';

/** Its voices are its models; callers see one model with these voices. */
const MODEL = 'piper';

export class PiperBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #converter: AudioConverter;
  readonly #root: string;
  /** Null until the server has been asked. */
  #isOlder: boolean | null = null;

  constructor(service: ServiceConfig, converter: AudioConverter) {
    this.#service = service;
    this.#converter = converter;
    this.#root = serverRoot(service.baseUrl).replace(/\/synthesize$/, '');
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const voices = await this.#voices(signal);
    const names = this.#service.models?.map(({ servedName }) => servedName) ?? [MODEL];
    const facts = { loaded: true, ...(voices.length > 0 && { voices }) };
    const listed = names.map((servedName) => ({ servedName, ...facts }));
    return { models: advertise(listed, this.#service), slots: 1 };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    return serveOnly({ speech: (speech) => this.#speak(speech) }, call);
  }

  async #speak(call: LocalCall): Promise<LocalAnswer> {
    const refused = refuseVoice(call) ?? refuseText(call.body) ?? refuseSpeed(call.body);
    if (refused !== null) return refused;
    const answer = await this.#ask(call);
    if (answer.status >= 300) return failed(answer);
    const made = await readMade(answer);
    if (made.kind === 'refused') return made.answer;
    if (made.kind === 'list') {
      throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON instead of a sound.');
    }
    const order = { call, converter: this.#converter, wanted: wantedFormat(call) };
    const sound = { file: () => Promise.resolve(made), isPcm: false };
    return { kind: 'media', parts: madeSound(order, sound) };
  }

  async #ask(call: LocalCall): Promise<ForwardedAnswer> {
    const { body, signal } = call;
    const { apiKey, dropFields } = this.#service;
    this.#isOlder ??= await this.#findOut(signal);
    const asked = { apiKey, signal };
    if (this.#isOlder) {
      const text = asText(body['input']) ?? '';
      return forwardToEnd({ ...asked, url: `${this.#root}/`, body: plainBody(text) });
    }
    const json = JSON.stringify(withoutFields(piperFields(call), dropFields));
    return forwardToEnd({ ...asked, url: `${this.#root}/synthesize`, body: json });
  }

  /** A failure here is sent to the caller: it names no address of the home network. */
  async #findOut(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#list(signal)) === null;
    } catch (error) {
      if (!(error instanceof LocalFailure)) throw error;
      throw new LocalFailure(error.code, 'piper does not tell its voices.', { cause: error });
    }
  }

  /** The voice that it was started with comes first: it is the default. */
  async #voices(signal: AbortSignal): Promise<string[]> {
    const names = await this.#list(signal);
    this.#isOlder = names === null;
    if (names === null) return [];
    const info = asObject(await askedServer(this.#service, signal).find(`${this.#root}/info`));
    const first = asText(asObject(info?.['voice'])?.['name']);
    return first === null ? names : [...new Set([first, ...names])];
  }

  /** Null if it has no such list. Its `/` is not requested: older ones would speak. */
  async #list(signal: AbortSignal): Promise<string[] | null> {
    const url = `${this.#root}/voices`;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal });
    if (answer.status === 404 && answer.server.startsWith('Werkzeug')) return null;
    checkAnswer(answer, url);
    const voices = asObject(answer.json);
    if (voices !== null) return Object.keys(voices);
    throw new LocalFailure('LOCAL_ERROR', `${url} is not piper's. Check the base URL.`);
  }
}

/** It answers text of blanks with an internal error. */
function refuseText({ input }: LocalCall['body']): DocumentAnswer | null {
  if (asText(input)?.trim()) return null;
  const detail = { code: 'invalid_value', param: 'input' };
  return refusal(400, "'input' has nothing to speak. Send a text.", detail);
}

function refuseSpeed({ speed }: LocalCall['body']): DocumentAnswer | null {
  if (speed === undefined || speed === null || lengthScale(speed) !== null) return null;
  const message = `'speed' is ${JSON.stringify(speed)}. Send a number from 0.25 to 4.`;
  return refusal(400, message, { code: 'invalid_value', param: 'speed' });
}

async function failed({ status, body }: ForwardedAnswer): Promise<DocumentAnswer> {
  const document = errorDocument(status, await readText(body));
  if (status >= 400 && status !== 404) return document;
  const message = `the local server answered ${status} instead of a sound.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

function plainBody(text: string): FormBody {
  const bytes = Buffer.from(text);
  return { contentType: 'text/plain; charset=utf-8', bytes: bytes.length, chunks: inPieces(bytes) };
}

// A speech request in the fields of piper's HTTP server.

/** OpenAI's range of speeds; a longer sound would fill the memory of the owner's machine. */
const SLOWEST = 0.25;

const FASTEST = 4;

/** Passed on unchanged. */
const OWN_FIELDS = ['speaker', 'speaker_id', 'noise_scale', 'noise_w_scale'];

/** Unknown fields are dropped; a caller's own `length_scale` overrides `speed`. */
function piperFields({ body, model }: LocalCall): JsonObject {
  const voice = asText(body['voice']) ?? model.voices?.[0] ?? null;
  const scale = ownScale(body['length_scale']) ?? lengthScale(body['speed']);
  const own = OWN_FIELDS.filter((name) => isPlain(body[name]));
  return {
    text: asText(body['input']) ?? '',
    ...(voice !== null && { voice }),
    ...(scale !== null && { length_scale: scale }),
    ...Object.fromEntries(own.map((name) => [name, body[name]])),
  };
}

/** Twice the speed is half the length. Null if it is not a valid speed. */
function lengthScale(speed: unknown): number | null {
  const isSpeed = typeof speed === 'number' && speed >= SLOWEST && speed <= FASTEST;
  return isSpeed ? 1 / speed : null;
}

/** Null if it is not a number. */
function ownScale(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(number, 1 / FASTEST), 1 / SLOWEST);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
