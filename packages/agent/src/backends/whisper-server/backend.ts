/** whisper.cpp's server: one model, one request at a time, and its own answer format. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ConversionError, UnknownSoundError } from '../../media/audio-converter.js';
import type { AudioConverter, Converted } from '../../media/audio-converter.js';
import {
  errorDocument,
  refusal,
  errorInSuccess,
  readReportedError,
} from '../../openai-wire/error-document.js';
import { asObject, asText, asObjects, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  LocalUpload,
  ServiceConfig,
} from '../backend.js';
import { checkAnswer, probe, serverRoot } from '../probe.js';
import { serveOnly } from '../serving.js';
import { forward } from '../forward.js';
import { multipartForm } from '../multipart.js';
import type { FormFile } from '../multipart.js';
import { readWhole } from '../bytes.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import { startOf } from '../../media/start-of.js';
import { languageCode, readSeconds, readSpan } from '../../openai-wire/transcript.js';
import { MAX_TRANSCRIPT_BYTES, soundOf, unnamedModel } from '../transcription.js';

/** Its default path, and the one that owners configure for OpenAI's clients. */
const PATHS = ['/inference', '/v1/audio/transcriptions'] as const;

export class WhisperServerBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #converter: AudioConverter;
  readonly #root: string;
  #path: string | null = null;

  constructor(service: ServiceConfig, converter: AudioConverter) {
    this.#service = service;
    this.#converter = converter;
    this.#root = serverRoot(service.baseUrl).replace(/\/inference$/, '');
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const url = `${this.#root}/health`;
    const answer = await probe(url, { apiKey: this.#service.apiKey, signal });
    // While a model loads, its 503 is changed to a 404.
    if (answer.status === 404 && answer.server === 'whisper.cpp') {
      throw new LocalFailure('LOCAL_UNREACHABLE', `${url} answered 404: it is still loading.`);
    }
    checkAnswer(answer, url);
    if (asObject(answer.json)?.['status'] !== 'ok') {
      throw new LocalFailure('LOCAL_ERROR', `${url} is not whisper.cpp's. Check the base URL.`);
    }
    return { models: unnamedModel(this.#service, { loaded: true }), slots: 1 };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const transcribe = async (asked: LocalCall): Promise<LocalAnswer> => {
      const sound = soundOf(asked);
      return 'kind' in sound ? sound : this.#transcribe(asked, sound);
    };
    return serveOnly({ transcriptions: transcribe, translations: transcribe }, call);
  }

  async #transcribe(call: LocalCall, upload: LocalUpload): Promise<LocalAnswer> {
    const path = await this.#findPath(call.signal);
    const { isReadable, bytes } = await readAudio(upload);
    const { contentType, bytes: size } = upload;
    if (isReadable) {
      return this.#send(call, path, { contentType, bytes: size, read: () => bytes });
    }
    const wav = await converted(this.#converter.convert(bytes, 'wav16k', call.signal));
    if (wav instanceof UnknownSoundError) return unknown(wav.what);
    if (wav instanceof ConversionError) return unreadable(wav.message);
    try {
      return await this.#send(call, path, wav);
    } finally {
      await wav.dispose();
    }
  }

  async #send(
    { endpoint, body, signal }: LocalCall,
    path: string,
    sound: Sound,
  ): Promise<LocalAnswer> {
    const { apiKey, dropFields } = this.#service;
    const { contentType, bytes } = sound;
    const read = (): AsyncIterable<Uint8Array> => sound.read();
    const file = { name: 'file', filename: 'audio', contentType, bytes, read };
    const form = multipartForm(
      [...whisperFields(withoutFields(body, dropFields)), ...(FIELDS[endpoint] ?? [])],
      [file],
    );
    const answer = await forward({ url: this.#root + path, apiKey, body: form, signal });
    const text = (await readWhole(answer.body, MAX_TRANSCRIPT_BYTES)).toString();
    if (answer.status < 300) return readTranscript(text);
    if (answer.status === 404) this.#path = null;
    return failed(answer.status, text);
  }

  /** Determined before a file is sent, because a file can be read only once. */
  async #findPath(signal: AbortSignal): Promise<string> {
    if (this.#path !== null) return this.#path;
    const { apiKey } = this.#service;
    for (const path of PATHS) {
      const answer = await probe(this.#root + path, { apiKey, signal, method: 'OPTIONS' });
      if (answer.status < 300) return (this.#path = path);
    }
    return PATHS[0];
  }
}

type Sound = Omit<FormFile, 'name' | 'filename'>;

/** A bad sound is the caller's error, not a failure of this machine. */
function converted(converting: Promise<Converted>): Promise<Converted | ConversionError> {
  return converting.catch((error: unknown) => {
    if (error instanceof ConversionError) return error;
    throw error;
  });
}

/** Every refusal says "Invalid request", for any cause. */
function failed(status: number, text: string): DocumentAnswer {
  if (status === 404) {
    const message = 'the local server has no such path, or it is still loading its model.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  return status === 400 ? unreadable(text.trim()) : errorDocument(status, text);
}

/** Checked before the server is asked; not a failure of this machine. */
function unknown(what: string): DocumentAnswer {
  const message =
    `'file' is ${what}, which is not decoded here. ` +
    "Send wav, mp3, flac, ogg or webm; m4a needs ffmpeg on the provider's machine.";
  return refusal(415, message, { code: 'unsupported_file_type', param: 'file' });
}

function unreadable(reason: string): DocumentAnswer {
  const why = reason.replace(/\.+$/, '');
  const message = `'file' could not be read: ${why}. Send a sound that is whole and not empty.`;
  return refusal(400, message, { code: 'provider_rejected', param: 'file' });
}

// Sound formats that whisper.cpp's server reads itself.
interface WhisperAudio {
  readonly isReadable: boolean;
  /** The whole file, from its first byte. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

const READABLE_TYPES: ReadonlySet<string> = new Set(['audio/wav', 'audio/mpeg', 'audio/flac']);

/** Length of an Ogg page's header and the first bytes of its content. */
const OGG_START_BYTES = 64;

/**
 * Ogg contains Vorbis, which the server reads, or Opus, which it does not: only the first page
 * shows which.
 */
async function readAudio(upload: LocalUpload): Promise<WhisperAudio> {
  const { contentType } = upload;
  if (contentType !== 'audio/ogg') {
    return { isReadable: READABLE_TYPES.has(contentType), bytes: upload.read() };
  }
  const { start, bytes } = await startOf(upload.read(), OGG_START_BYTES);
  return { isReadable: start.includes('vorbis'), bytes };
}

// The fields of a transcription for whisper.cpp's server.
type Field = [name: string, value: string];

/**
 * Fields that it does not read, such as `model`, are dropped. The agent always requests the longest
 * format: the others contain no duration.
 */
/** What one endpoint adds. */
const FIELDS: Readonly<Partial<Record<EndpointKey, readonly Field[]>>> = {
  translations: [['translate', 'true']],
};

function whisperFields(body: Readonly<JsonObject>): Field[] {
  const prompt = asText(body['prompt']);
  return [
    ['response_format', 'verbose_json'],
    ['language', knownLanguage(asText(body['language']))],
    // They would cost a second pass through the encoder.
    ['no_language_probabilities', 'true'],
    // Its segments end after 60 characters; without this also in the middle of a word.
    ['split_on_word', 'true'],
    ...(prompt === null ? [] : ([['prompt', prompt]] satisfies Field[])),
    ...numeric(body, 'temperature'),
    ...numeric(body, 'temperature_inc'),
  ];
}

/** Its default is English for any spoken language; it ignores a locale such as `en-GB`. */
function knownLanguage(language: string | null): string {
  if (language === null) return 'auto';
  return languageCode(language) ?? languageCode(language.split(/[-_]/)[0] ?? '') ?? 'auto';
}

/** The server would answer an invalid number with an internal error. */
function numeric(body: Readonly<JsonObject>, name: string): Field[] {
  const value = body[name];
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  return isNumber && Number.isFinite(Number(value)) ? [[name, String(Number(value))]] : [];
}

// whisper.cpp's `verbose_json` as OpenAI's transcript.

/**
 * `{text, language?, duration?, segments, words}`, times in seconds. Older servers send errors with
 * a 200. Throws a `LocalFailure` if the answer is not a transcript.
 */
function readTranscript(answer: string): DocumentAnswer {
  const said = asObject(parseJson(answer));
  const error = readReportedError(said);
  if (error !== null) return errorInSuccess(error);
  if (said === null || typeof said['text'] !== 'string') {
    throw new LocalFailure('LOCAL_ERROR', 'the local server answered something without a text.');
  }
  const json = JSON.stringify(transcript(said, said['text']));
  return { kind: 'document', status: 200, json, usage: null };
}

function transcript(said: JsonObject, text: string): JsonObject {
  const duration = readSeconds(said['duration']);
  const name = asText(said['language']) ?? asText(said['detected_language']);
  const language = name === null ? null : languageCode(name);
  const segments = asObjects(said['segments']);
  const limit = duration ?? Infinity;
  const pieces = segments.flatMap((segment) => asObjects(segment['words']));
  const spaced = !UNSPACED.has(language ?? '');
  return {
    text: runningText(text, spaced),
    ...(language !== null && { language }),
    ...(duration !== null && { duration }),
    segments: segments.map((segment, id) => ({
      ...facts(segment, id),
      ...readSpan(segment, limit),
    })),
    words: readWords(pieces, { limit, spaced }),
  };
}

/**
 * It writes each segment on its own line, and cuts segments at 60 characters, older versions in the
 * middle of a word. A line begins with a space if a word begins there; if no line does, the spaces
 * were trimmed, and words end at line ends.
 */
function runningText(text: string, spaced: boolean): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const isTrimmed = spaced && lines.every((line) => !line.startsWith(' '));
  return lines.join(isTrimmed ? ' ' : '').trim();
}

const FACTS = ['tokens', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'];

/** The fields of OpenAI's segments besides their times, as far as whisper.cpp reports them. */
function facts(segment: JsonObject, id: number): JsonObject {
  const told = FACTS.filter((name) => segment[name] !== undefined && segment[name] !== null);
  const kept = Object.fromEntries(told.map((name) => [name, segment[name]]));
  return { id, text: (asText(segment['text']) ?? '').trim(), ...kept };
}

interface Word {
  word: string;
  readonly start: number;
  end: number;
}

/**
 * Languages written without spaces between words: one piece is the best approximation of a word.
 */
const UNSPACED: ReadonlySet<string> = new Set(['bo', 'ja', 'km', 'lo', 'my', 'th', 'yue', 'zh']);

interface Reading {
  /** The end of the audio. */
  readonly limit: number;
  readonly spaced: boolean;
}

/**
 * Its "words" are tokens: a token that does not begin with a space belongs to the one before, even
 * across segments, which it cuts at 60 characters.
 */
function readWords(pieces: readonly JsonObject[], { limit, spaced }: Reading): Word[] {
  const words: Word[] = [];
  for (const piece of pieces) {
    const text = asText(piece['word']) ?? '';
    const { start, end } = readSpan(piece, limit);
    const last = words.at(-1);
    if (spaced && last !== undefined && !text.startsWith(' ')) {
      last.word += text.trimEnd();
      last.end = Math.max(last.end, end);
    } else if (text.trim() !== '') words.push({ word: text.trim(), start, end });
  }
  return words;
}
