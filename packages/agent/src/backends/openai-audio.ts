/** Speech, copied voices and music from a server that speaks OpenAI's API. */
import { contentTypeOf, detectFormat, PCM } from '@inference-gateway/shared/media-types';
import type { MediaFormat } from '@inference-gateway/shared/media-types';
import type { AudioConverter, SoundTarget } from '../media/ffmpeg.js';
import { LocalFailure } from './backend.js';
import type { DocumentAnswer, LocalAnswer, LocalCall, MediaPart } from './backend.js';
import type { ForwardedAnswer } from './forward.js';
import { leave, openMade, readMade } from './openai-answer.js';
import type { MadeFile } from './openai-answer.js';
import { fieldsOf, readError, sendForm, sendJson } from './openai-send.js';
import type { MediaTarget } from './openai-send.js';

/** One request for sound, and what is wanted of it. */
interface Order {
  readonly target: MediaTarget;
  readonly call: LocalCall;
  /** Null where whatever the server makes is right. */
  readonly wanted: string | null;
}

export async function makeSound(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const order = { target, call, wanted: wantedFormat(call) };
  const answer = await ask(order);
  if ('kind' in answer) return answer;
  const made = await readMade(answer);
  if (made.kind === 'refused') return made.answer;
  const isPcm = !NOT_SOUND.test(answer.contentType);
  return {
    kind: 'media',
    parts: sound(order, { file: () => openMade(made, target, call), isPcm }),
  };
}

/** The specification's default is wav, whatever the server's own is. */
function wantedFormat({ endpoint, body }: LocalCall): string | null {
  if (endpoint === 'music') return null;
  const format = body['response_format'];
  return typeof format === 'string' ? format : 'wav';
}

/** Bare samples have no mark of their own: there, and only there, the content type must do. */
const NOT_SOUND = /^(?:text\/|application\/json)/i;

/** An error is read to its end. */
async function ask({ target, call, wanted }: Order): Promise<ForwardedAnswer | DocumentAnswer> {
  const { response_format: _caller, ...fields } = fieldsOf(call);
  if (wanted === null) return orError(call, await sendJson(target, call, fields));
  const spoken = withVoice(fields, call);
  if (call.uploads.length > 0) {
    const form = { fields: { ...spoken, response_format: wanted } };
    return orError(call, await sendForm(target, call, form));
  }
  // Kokoro streams unless told otherwise, and such a WAV has no length in its header.
  const body = { ...spoken, stream: false, response_format: wanted };
  const first = await orError(call, await sendJson(target, call, body));
  if (!('kind' in first)) return first;
  const other = withoutRefused(body, first);
  return other === null ? first : orError(call, await sendJson(target, call, other));
}

/** Some servers have no voice of their own accord. */
function withVoice(fields: Record<string, unknown>, { model }: LocalCall): Record<string, unknown> {
  const voice = fields['voice'] ?? model.voices?.[0];
  return voice === undefined ? fields : { ...fields, voice };
}

async function orError(
  call: LocalCall,
  answer: ForwardedAnswer,
): Promise<ForwardedAnswer | DocumentAnswer> {
  return answer.status < 400 ? answer : readError(call, answer);
}

/** Null where it was nothing of ours that was refused: what the caller sent is sent once. */
function withoutRefused(
  { stream, response_format: wanted, ...rest }: Record<string, unknown>,
  { status, json }: DocumentAnswer,
): Record<string, unknown> | null {
  if (status !== 400 && status !== 422) return null;
  const isFormat = /format/i.test(json);
  const isStream = /stream/i.test(json);
  if (!isFormat && !isStream) return null;
  const other = wanted === 'wav' ? {} : { response_format: 'wav' };
  return {
    ...rest,
    ...(!isStream && { stream }),
    ...(isFormat ? other : { response_format: wanted }),
  };
}

interface Made {
  readonly file: () => Promise<MadeFile>;
  /** Whether it may be bare samples. */
  readonly isPcm: boolean;
}

/** As the server made it where that is what was wanted, else converted. */
async function* sound(order: Order, made: Made): AsyncGenerator<MediaPart, void, void> {
  const file = await made.file();
  const { start, bytes } = file;
  const { wanted, target } = order;
  const format = detectFormat(start);
  const contentType = format === null ? null : contentTypeOf(format, 'audio');
  if (format === null || contentType === null) {
    const isPcm = wanted === 'pcm' && made.isPcm && start.length > 0;
    if (isPcm) return yield { contentType: PCM, revisedPrompt: null, bytes };
    await leave(file);
    throw noSound(start);
  }
  const to = conversionOf(format, start, wanted);
  if (to !== null && target.ffmpeg !== null) return yield* converted(target.ffmpeg, bytes, order);
  // Other formats are a wish; these two are the specification's.
  if (to !== null && (wanted === 'wav' || wanted === 'opus')) {
    await leave(file);
    throw noConverter(order, format);
  }
  return yield { contentType, revisedPrompt: null, bytes };
}

/** Null where nothing is to be converted. Ogg may hold Vorbis as well. */
function conversionOf(
  format: MediaFormat,
  start: Buffer,
  wanted: string | null,
): SoundTarget | null {
  if (wanted === null || format === wanted) return null;
  if (wanted === 'opus') return format === 'ogg' && start.includes('OpusHead') ? null : 'opus';
  // AAC comes bare or in MP4.
  if (wanted === 'aac' && format === 'mp4') return null;
  return format === 'wav' ? null : 'wav';
}

async function* converted(
  ffmpeg: AudioConverter,
  bytes: AsyncIterable<Uint8Array>,
  { wanted, call }: Order,
): AsyncGenerator<MediaPart, void, void> {
  const file = await ffmpeg.convert(bytes, wanted === 'opus' ? 'opus' : 'wav', call.signal);
  try {
    yield { contentType: file.contentType, revisedPrompt: null, bytes: file.read() };
  } finally {
    await file.dispose();
  }
}

function noSound(start: Buffer): LocalFailure {
  const what = start.length === 0 ? 'nothing' : 'something that is no sound';
  return new LocalFailure('LOCAL_ERROR', `the local server answered ${what}.`);
}

function noConverter({ call, wanted }: Order, format: MediaFormat): LocalFailure {
  return new LocalFailure(
    'LOCAL_ERROR',
    `${call.model.id} makes no ${wanted} here but ${format}, and ffmpeg is not installed on its ` +
      'machine. Install ffmpeg beside the agent, or ask for another response_format.',
  );
}
