/** One tiny real request to a model, its answer read to the end and looked at. */
import type { ServiceType, EndpointKey } from '@inference-gateway/shared/endpoints';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import * as z from 'zod';
import { parseJson } from '../../openai-wire/json.js';
import { frameWav } from '../../media/wav.js';
import { LocalFailure, LocalRefusal } from '../backend.js';
import type {
  Backend,
  DocumentAnswer,
  ServiceConfig,
  EventAnswer,
  LocalAnswer,
  MediaAnswer,
  LocalCall,
  LocalUpload,
} from '../backend.js';
import { inPieces } from '../bytes.js';

/** A model of a service that is up. */
export interface Subject {
  readonly config: ServiceConfig;
  readonly backend: Backend;
  readonly model: AdvertisedModel;
}

/** What came of it. */
export interface Trial {
  readonly ok: boolean;
  /** Why it is not; null where it is. */
  readonly reason: string | null;
  /** It came to no answer at all, which says nothing of the model. */
  readonly cut: 'unreachable' | 'stopped' | null;
  /** What a server does that has only begun, and says little of the model; null otherwise. */
  readonly early: 'closed' | 'loading' | null;
  /** Null where not a byte came. */
  readonly firstByteMs: number | null;
  readonly ms: number;
  /** Of the answer, where the server counts them. */
  readonly tokens: number | null;
  readonly bytes: number;
  /** Of a WAV file; null for all else. */
  readonly seconds: number | null;
}

/** A large model may have to be read from a slow disk first. */
export const TRIAL_LIMITS_MS: Readonly<Record<ServiceType, number>> = {
  llm: 300_000,
  stt: 120_000,
  tts: 120_000,
  image: 600_000,
  video: 1_800_000,
  music: 900_000,
};

export interface TrialTerms {
  readonly limitMs: number;
  readonly stop: AbortSignal;
  /** Told of the request: the card is busy until it is over, which may be long after the trial. */
  readonly began?: (call: Promise<unknown>) => void;
}

/** Never rejects: what went wrong is the result. It is told at the limit, or when stopped. */
export async function tryModel(
  { config, backend, model }: Subject,
  { limitMs, stop, began }: TrialTerms,
): Promise<Trial> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException(TOO_LONG, 'AbortError')), limitMs);
  const signal = AbortSignal.any([stop, limit.signal]);
  try {
    signal.throwIfAborted();
    const call = { ...tinyCall(config.type, model), signal };
    const called = backend.call(call);
    began?.(called);
    const answer = await Promise.race([called, rejectedWith(signal)]);
    const { fault, ...came } = await readTrialAnswer(answer, call.endpoint, elapsed);
    const early = answer.kind === 'document' && saysLoading(answer) ? 'loading' : null;
    const reason = fault ?? (await backend.unfit?.(model, signal)) ?? null;
    return { ok: reason === null, reason, cut: null, early, ms: elapsed(), ...came };
  } catch (error) {
    const tooLong = `${TOO_LONG} within ${limitMs / 1_000} s`;
    const reason = limit.signal.aborted ? tooLong : (error as Error).message;
    const cut = stop.aborted ? 'stopped' : cutBy(error);
    const early = cut === null ? earlyBy(error) : null;
    return { ok: false, reason, cut, early, ms: elapsed(), ...NOTHING };
  } finally {
    clearTimeout(timer);
  }
}

function rejectedWith(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
}

const TOO_LONG = 'no whole answer';

const NOTHING = { firstByteMs: null, tokens: null, bytes: 0, seconds: null };

function cutBy(error: unknown): Trial['cut'] {
  const isGone = error instanceof LocalFailure && error.code === 'LOCAL_UNREACHABLE';
  return isGone ? 'unreachable' : null;
}

function earlyBy(error: unknown): Trial['early'] {
  if (error instanceof LocalRefusal) return saysLoading(error.answer) ? 'loading' : null;
  return error instanceof LocalFailure && error.isBrokenOff ? 'closed' : null;
}

/** 503 in all of them; llama.cpp's words, whatever is in front of it. */
function saysLoading({ status, json }: DocumentAnswer): boolean {
  return status === 503 || (status >= 500 && /\bloading model\b/i.test(json));
}

// Whether an answer is what its endpoint promises; read to its end either way.
interface TrialAnswer {
  /** What is wrong with it; null where nothing is. */
  readonly fault: string | null;
  readonly firstByteMs: number | null;
  readonly tokens: number | null;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** Throws what reading it throws. */
async function readTrialAnswer(
  answer: LocalAnswer,
  endpoint: EndpointKey,
  elapsed: () => number,
): Promise<TrialAnswer> {
  if (answer.kind === 'document') return readDocument(answer, endpoint, elapsed());
  if (answer.kind === 'events') return readEvents(answer, elapsed);
  return readMedia(answer, ENDPOINTS[endpoint].media, elapsed);
}

const failure = z.object({ error: z.object({ message: z.string() }) });

const spoken = z.record(z.string(), z.unknown());

const choices = z.object({
  choices: z.array(z.object({ delta: spoken.optional(), message: spoken.optional() })).min(1),
});

const transcript = z.object({ text: z.string() });

function readDocument(
  { status, json, usage }: DocumentAnswer,
  endpoint: EndpointKey,
  firstByteMs: number,
): TrialAnswer {
  const came = { firstByteMs, bytes: Buffer.byteLength(json), seconds: null };
  const tokens = usage?.completion_tokens ?? null;
  const document = parseJson(json);
  const error = failure.safeParse(document).data?.error.message;
  if (status >= 400 || error !== undefined) {
    return { ...came, tokens, fault: `the local server refused it (${status}): ${error ?? json}` };
  }
  // Of half a second without a word, an empty transcript is the right one.
  const isWhole =
    endpoint === 'transcriptions'
      ? transcript.safeParse(document).success
      : hasWords(document) || hasTokens(tokens);
  return { ...came, tokens, fault: isWhole ? null : EMPTY };
}

/** Whatever a server calls them: content, reasoning, a call of a tool. */
function hasWords(document: unknown): boolean {
  const said = choices.safeParse(document).data?.choices ?? [];
  return said.some(({ delta, message }) =>
    Object.entries({ ...delta, ...message }).some(([name, value]) => {
      const isText = typeof value === 'string' || Array.isArray(value);
      return name !== 'role' && isText && value.length > 0;
    }),
  );
}

/** Some servers keep what a model thinks to themselves: of so few tokens nothing may be left. */
function hasTokens(tokens: number | null): boolean {
  return tokens !== null && tokens > 0;
}

const EMPTY = 'the local server answered without a result';

async function readEvents({ events }: EventAnswer, elapsed: () => number): Promise<TrialAnswer> {
  let firstByteMs: number | null = null;
  let bytes = 0;
  let isWhole = false;
  let error: string | null = null;
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    firstByteMs ??= elapsed();
    bytes += Buffer.byteLength(next.value);
    for (const chunk of chunksOf(next.value)) {
      isWhole ||= hasWords(chunk);
      error ??= failure.safeParse(chunk).data?.error.message ?? null;
    }
  }
  const tokens = next.value?.completion_tokens ?? null;
  const fault = error ?? (isWhole || hasTokens(tokens) ? null : EMPTY);
  return { fault, firstByteMs, tokens, bytes, seconds: null };
}

function chunksOf(events: string): unknown[] {
  return events.split('\n\n').map((event) => parseJson(event.replace(/^data: /, '')));
}

/** Where a WAV file tells how many bytes a second takes, and how many come before the samples. */
const WAV = { bytesASecondAt: 28, headBytes: 44 };

async function readMedia(
  { parts }: MediaAnswer,
  family: MediaFamily | null,
  elapsed: () => number,
): Promise<TrialAnswer> {
  let firstByteMs: number | null = null;
  let bytes = 0;
  let start = Buffer.alloc(0);
  for await (const part of parts) {
    for await (const piece of part.bytes) {
      firstByteMs ??= elapsed();
      bytes += piece.length;
      if (start.length < WAV.headBytes) start = Buffer.concat([start, piece]);
    }
  }
  const fault = faultOfFile(start, family);
  return { fault, firstByteMs, tokens: null, bytes, seconds: secondsOf(start, bytes) };
}

function faultOfFile(start: Buffer, family: MediaFamily | null): string | null {
  if (start.length === 0) return EMPTY;
  const format = detectFormat(start);
  const isRight = format !== null && family !== null && contentTypeOf(format, family) !== null;
  return isRight ? null : `the local server answered something that is no ${family ?? 'file'}`;
}

function secondsOf(start: Buffer, bytes: number): number | null {
  if (detectFormat(start) !== 'wav' || start.length < WAV.headBytes) return null;
  const bytesASecond = start.readUInt32LE(WAV.bytesASecondAt);
  if (bytesASecond === 0) return null;
  return Math.round(((bytes - WAV.headBytes) / bytesASecond) * 100) / 100;
}

// The smallest request of each type that shows whether a model does its work.

/** All of a call but its end. */
type TinyCall = Omit<LocalCall, 'signal'>;

/** New each time: its sound can be read once. */
function tinyCall(type: ServiceType, model: AdvertisedModel): TinyCall {
  const { endpoint, fields, uploads } = TINY[type];
  return {
    endpoint,
    model,
    body: { model: model.id, ...fields },
    uploads: uploads?.() ?? [],
    requestId: 'test',
  };
}

interface Tiny {
  readonly endpoint: EndpointKey;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly uploads?: () => LocalUpload[];
}

const PROMPT = 'a red circle on white';

const TINY: Readonly<Record<ServiceType, Tiny>> = {
  llm: {
    endpoint: 'chat',
    // A stream, because its first word tells how long a model takes to begin.
    fields: { messages: [{ role: 'user', content: 'Say ok.' }], max_tokens: 16, stream: true },
  },
  stt: { endpoint: 'transcriptions', fields: { response_format: 'json' }, uploads: halfASecond },
  tts: { endpoint: 'speech', fields: { input: 'Hello.', response_format: 'wav' } },
  image: {
    endpoint: 'images',
    fields: { prompt: PROMPT, n: 1, size: '256x256', response_format: 'b64_json' },
  },
  video: { endpoint: 'videos', fields: { prompt: PROMPT, duration: 1, width: 256, height: 256 } },
  // ACE-Step makes no less than 10 s.
  music: { endpoint: 'music', fields: { prompt: 'a calm piano', audio_duration: 10 } },
};

const SAMPLE_RATE = 16_000;

const SAMPLES = SAMPLE_RATE / 2;

const HERTZ = 440;

const LOUDNESS = 6_000;

function halfASecond(): LocalUpload[] {
  const sound = wav();
  const read = (): AsyncIterable<Uint8Array> => inPieces(sound);
  return [{ name: 'file', contentType: 'audio/wav', bytes: sound.length, read }];
}

/** A tone: some servers refuse silence. */
function wav(): Buffer {
  const samples = Buffer.alloc(SAMPLES * 2);
  for (let i = 0; i < SAMPLES; i++) {
    const wave = Math.sin((2 * Math.PI * HERTZ * i) / SAMPLE_RATE);
    samples.writeInt16LE(Math.round(wave * LOUDNESS), i * 2);
  }
  return Buffer.concat([frameWav(SAMPLES, new Map(), SAMPLE_RATE).head, samples]);
}
