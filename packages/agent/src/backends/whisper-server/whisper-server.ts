/** whisper.cpp's server: one model, one request at a time, and answers of its own kind. */
import { ConversionError, UnknownSoundError } from '../../media/audio-converter.js';
import type { AudioConverter, Converted } from '../../media/audio-converter.js';
import { errorDocument, refusal } from '../../openai-wire/error-document.js';
import { asObject } from '../../openai-wire/json.js';
import { whisperFields } from './request.js';
import { readTranscript } from './transcript.js';
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
import { checkAnswer } from '../check-answer.js';
import { forward } from '../forward.js';
import { multipartForm } from '../multipart.js';
import type { FormFile } from '../multipart.js';
import { probe } from '../probe.js';
import { readWhole } from '../read-whole.js';
import { serverRoot } from '../server-root.js';
import { withoutFields } from '../../openai-wire/without-fields.js';
import { readAudio } from './audio.js';
import { MAX_TRANSCRIPT_BYTES, soundOf, unnamedModel } from '../transcription.js';

/** Its usual path, and the one that it is told to take for the sake of OpenAI's clients. */
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
    // While a model loads its 503 is flattened to a 404.
    if (answer.status === 404 && answer.server === 'whisper.cpp') {
      throw new LocalFailure('LOCAL_UNREACHABLE', `${url} answered 404: it is still loading.`);
    }
    checkAnswer(answer, url);
    if (asObject(answer.json)?.['status'] !== 'ok') {
      throw new LocalFailure('LOCAL_ERROR', `${url} is not whisper.cpp's. Check the base URL.`);
    }
    return { models: unnamedModel(this.#service, { loaded: true }), slots: 1 };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const sound = soundOf(call);
    return 'kind' in sound ? sound : this.#transcribe(call, sound);
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

  async #send({ body, signal }: LocalCall, path: string, sound: Sound): Promise<LocalAnswer> {
    const { apiKey, dropFields } = this.#service;
    const { contentType, bytes } = sound;
    const read = (): AsyncIterable<Uint8Array> => sound.read();
    const file = { name: 'file', filename: 'audio', contentType, bytes, read };
    const form = multipartForm(whisperFields(withoutFields(body, dropFields)), [file]);
    const answer = await forward({ url: this.#root + path, apiKey, body: form, signal });
    const text = (await readWhole(answer.body, MAX_TRANSCRIPT_BYTES)).toString();
    if (answer.status < 300) return readTranscript(text);
    if (answer.status === 404) this.#path = null;
    return failed(answer.status, text);
  }

  /** Asked before a file is sent, because a file can be read only once. */
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

/** What is wrong with a sound is its sender's matter, and no failure of this machine. */
function converted(converting: Promise<Converted>): Promise<Converted | ConversionError> {
  return converting.catch((error: unknown) => {
    if (error instanceof ConversionError) return error;
    throw error;
  });
}

/** All its refusals are "Invalid request", whatever was wrong. */
function failed(status: number, text: string): DocumentAnswer {
  if (status === 404) {
    const message = 'the local server has no such path, or it is still loading its model.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  return status === 400 ? unreadable(text.trim()) : errorDocument(status, text);
}

/** Told before the server is asked, and no failure of this machine. */
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
