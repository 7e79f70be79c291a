/**
 * whisper-asr-webservice, with openai-whisper, faster-whisper or WhisperX: one model that it does
 * not name, options in the query, and answers that are JSON but labelled as text. It includes
 * ffmpeg and reads every format.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { extensionOf } from '@inference-gateway/shared/media/types';
import { errorDocument } from '../../openai-wire/error-document.js';
import { asObject, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { readOpenAiTranscript, languageCode } from '../../openai-wire/transcript.js';
import { askedServer } from '../openai/list.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  LocalAnswer,
  LocalCall,
  LocalUpload,
  ServiceConfig,
} from '../backend.js';
import { multipartForm } from '../multipart.js';
import type { FormBody } from '../multipart.js';
import { forwardToEnd } from '../run-call.js';
import { readWhole } from '../bytes.js';
import { serverRoot } from '../probe.js';
import { serveOnly } from '../serving.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import { MAX_TRANSCRIPT_BYTES, soundOf, unnamedModel } from '../transcription.js';

const PATH = '/asr';
/** Absent: `transcribe`. */
const TASKS: Readonly<Partial<Record<EndpointKey, string>>> = { translations: 'translate' };

export class WhisperAsrBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #root: string;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#root = serverRoot(service.baseUrl).replace(/\/asr$/, '');
  }

  /** It reports nothing but its paths. */
  async describe(signal: AbortSignal): Promise<Description> {
    const url = `${this.#root}/openapi.json`;
    const paths = asObject(asObject(await askedServer(this.#service, signal).get(url))?.['paths']);
    if (paths === null || !(PATH in paths)) {
      const message = `${url} is not whisper-asr-webservice's. Check the base URL.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    return { models: unnamedModel(this.#service), slots: 1 };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const transcribe = async (asked: LocalCall): Promise<LocalAnswer> => {
      const sound = soundOf(asked);
      return 'kind' in sound ? sound : this.#transcribe(asked, sound);
    };
    return serveOnly({ transcriptions: transcribe, translations: transcribe }, call);
  }

  async #transcribe(
    { endpoint, body, signal }: LocalCall,
    upload: LocalUpload,
  ): Promise<LocalAnswer> {
    const { apiKey, dropFields } = this.#service;
    const query = whisperAsrQuery(withoutFields(body, dropFields));
    query.set('task', TASKS[endpoint] ?? 'transcribe');
    const url = `${this.#root}${PATH}?${query.toString()}`;
    const answer = await forwardToEnd({ url, apiKey, body: formOf(upload), signal });
    const text = (await readWhole(answer.body, MAX_TRANSCRIPT_BYTES)).toString();
    if (answer.status < 300) return readOpenAiTranscript(text);
    if (answer.status >= 400 && answer.status !== 404) return errorDocument(answer.status, text);
    throw new LocalFailure('LOCAL_ERROR', `the local server answered ${answer.status} to ${PATH}.`);
  }
}

function formOf(upload: LocalUpload): FormBody {
  const { contentType, bytes } = upload;
  const filename = `audio.${extensionOf(contentType)}`;
  const read = (): AsyncIterable<Uint8Array> => upload.read();
  return multipartForm([], [{ name: 'audio_file', filename, contentType, bytes, read }]);
}

// The fields of a transcription for whisper-asr-webservice.

/** whisper uses the last 224 tokens; a longer prompt would only make the URL too long. */
const MAX_PROMPT_CHARACTERS = 1_000;

/** Always requests JSON, and words only if the caller wants them: they cost time. */
function whisperAsrQuery(body: Readonly<JsonObject>): URLSearchParams {
  const query = new URLSearchParams({ output: 'json' });
  const granularities = body['timestamp_granularities'];
  const isTimed = Array.isArray(granularities) && granularities.includes('word');
  query.set('word_timestamps', String(isTimed));
  const language = knownLanguage(asText(body['language']));
  if (language !== null) query.set('language', language);
  const prompt = asText(body['prompt']);
  if (prompt !== null) query.set('initial_prompt', prompt.slice(-MAX_PROMPT_CHARACTERS));
  if (body['vad_filter'] === true) query.set('vad_filter', 'true');
  return query;
}

/** whisper would answer an unknown language with an internal error. */
function knownLanguage(language: string | null): string | null {
  if (language === null) return null;
  return languageCode(language) ?? languageCode(language.split(/[-_]/)[0] ?? '');
}
