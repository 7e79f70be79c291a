/**
 * What an agent says of tokens, held to what went over its link: it is the agent's word, and the
 * sums of a member and of an owner are made of it.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf, sequencesOf } from '@inference-gateway/shared/openai/kinds';
import { limitOf, TOKENS_A_MEDIUM } from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';

/** Of a request in bytes, with the media in it. */
export interface RequestSize {
  readonly bytes: number;
  readonly media: number;
  readonly mediaBytes: number;
}

/** What a request for text asks for. */
export interface AskedTokens {
  /** Answers: those to one prompt, times the prompts. */
  readonly sequences: number;
  /** Of one answer; null if the request names no limit. */
  readonly maxTokens: number | null;
}

/** What the tokens of one answer are held to. */
export interface TokenBounds extends AskedTokens {
  /** Null if the request is not here any more. Asked for where it matters. */
  readonly request: () => RequestSize | null;
}

/** What went over the link for one answer, and what its request allowed. */
export interface WireCount extends TokenBounds {
  /** The agent's word; null if it said nothing. */
  readonly told: TokenUsage | null;
  /** Bytes of the answer, those included that came after it was canceled. */
  readonly answerBytes: number;
  readonly stream: boolean;
}

/** Null if the endpoint's answers are no text: then the request is not read. */
export function askedTokens(
  endpoint: EndpointKey,
  read: () => Readonly<Record<string, unknown>>,
): AskedTokens | null {
  if (kindOf(endpoint).counts !== 'tokens') return null;
  const fields = read();
  return { sequences: sequencesOf(endpoint, fields), maxTokens: limitOf(fields) };
}

/** The same of a request that only its agent still has. */
export function lostBounds(endpoint: EndpointKey, size: RequestSize | null): TokenBounds | null {
  const asked = askedTokens(endpoint, () => ({}));
  return asked === null ? null : { ...asked, request: () => size };
}

export interface MeteredTokens {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The model server did not count them, or what was told passes what the bytes allow. */
  readonly estimated: boolean;
}

export const NO_TOKENS: MeteredTokens = {
  promptTokens: 0,
  completionTokens: 0,
  estimated: false,
};

/** What is metered of one request, in numbers. */
export interface UsageNumbers extends MeteredTokens {
  /** Milliseconds of audio, heard or spoken. */
  readonly audioMs: number;
  /** Images made. */
  readonly images: number;
  readonly queueMs: number;
  /** Null if there was none. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

/** More tokens than any one call can have. */
const MAX_TOKENS = 10_000_000;
/** Longer than any file can be: its header may say anything. */
const MAX_AUDIO_MS = 30 * 86_400_000;

/**
 * The numbers of a usage row, of a call and of a job. An agent's word is hostile, and the wall
 * clock may have been set back meanwhile: sums must stay whole numbers, and must never sink.
 */
export function usageNumbers(told: UsageNumbers): UsageNumbers {
  return {
    promptTokens: counted(told.promptTokens, MAX_TOKENS),
    completionTokens: counted(told.completionTokens, MAX_TOKENS),
    estimated: told.estimated,
    audioMs: counted(told.audioMs, MAX_AUDIO_MS),
    images: counted(told.images),
    queueMs: counted(told.queueMs),
    firstByteMs: told.firstByteMs === null ? null : counted(told.firstByteMs),
    totalMs: counted(told.totalMs),
  };
}

function counted(count: number, most = Number.MAX_SAFE_INTEGER): number {
  return Math.min(Math.max(0, Math.round(count)), most);
}

/** What a chat template, with its own instructions and those for tools, puts before a prompt. */
const TEMPLATE_TOKENS = 2_048;
/** Of a picture or a sound beyond the bytes of its base64: the most that vision models make. */
const MEDIUM_TOKENS = 16_384;
/** Tokens that leave no byte: ends of turns, and empty chunks. */
const SILENT_TOKENS = 256;
/** Bytes of a stream's event beside its text, of a document beside its own, and of text a token. */
const EVENT_BYTES = 200;
const DOCUMENT_BYTES = 400;
const TOKEN_BYTES = 4;

/**
 * A token has a byte at least, and no answer is longer than its limit; thoughts that are not sent
 * count up to that limit. Where nothing was sent, nothing is counted.
 */
export function meteredTokens(wire: WireCount): MeteredTokens {
  const { told, answerBytes } = wire;
  if (told === null) return answerBytes === 0 ? NO_TOKENS : estimated(wire);
  const promptTokens = Math.min(told.prompt_tokens, mostPrompt(wire));
  const completionTokens = Math.min(told.completion_tokens, mostCompletion(wire));
  const isBounded = promptTokens < told.prompt_tokens || completionTokens < told.completion_tokens;
  return { promptTokens, completionTokens, estimated: isBounded || told.estimated === true };
}

function mostCompletion({ answerBytes, sequences, maxTokens }: WireCount): number {
  const most = maxTokens === null ? answerBytes + SILENT_TOKENS * sequences : maxTokens * sequences;
  return Math.min(MAX_TOKENS, most);
}

function mostPrompt({ request, sequences, told }: WireCount): number {
  // Nearly all are: the request need not be looked at.
  if ((told?.prompt_tokens ?? 0) <= TEMPLATE_TOKENS) return TEMPLATE_TOKENS;
  const size = request();
  if (size === null) return MAX_TOKENS;
  const most = size.bytes + TEMPLATE_TOKENS * sequences + size.media * MEDIUM_TOKENS;
  return Math.min(MAX_TOKENS, most);
}

/** By the bytes alone, of an agent that tells nothing or is gone. */
function estimated({ answerBytes, request, stream, sequences }: WireCount): MeteredTokens {
  const { bytes, media, mediaBytes } = request() ?? NOTHING_KNOWN;
  const completion = stream
    ? answerBytes / EVENT_BYTES
    : Math.max(0, answerBytes - DOCUMENT_BYTES * sequences) / TOKEN_BYTES;
  return {
    promptTokens: Math.min(MAX_TOKENS, promptOf(bytes - mediaBytes, media)),
    completionTokens: Math.min(MAX_TOKENS, Math.ceil(completion)),
    estimated: true,
  };
}

function promptOf(textBytes: number, media: number): number {
  return Math.ceil(textBytes / TOKEN_BYTES) + media * TOKENS_A_MEDIUM;
}

const NOTHING_KNOWN: RequestSize = { bytes: 0, media: 0, mediaBytes: 0 };

/** Of a request, beside its media, that are searched for them: all that most requests have. */
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** With so many, no bound is left. */
const MAX_MEDIA = 4_096;
/** What stands before a `data:` URL, and before base64 beside the name of its format. */
const MEDIA_START = '"data';
const BACKSLASH = 0x5c;
const MEDIA_MARKS = ['"data:', '"data":"'];

/**
 * It runs on the loop, where a search of 32 MiB full of quotes takes most of a second: whatever
 * lies behind so much text counts as text.
 */
export function sizeOf(request: Uint8Array): RequestSize {
  const text = Buffer.from(request.buffer, request.byteOffset, request.length);
  let [media, mediaBytes, at] = [0, 0, 0];
  for (let left = MAX_SEARCHED_BYTES; left > 0 && media < MAX_MEDIA;) {
    const found = text.subarray(at, at + left).indexOf(MEDIA_START);
    if (found === -1) break;
    left -= found + MEDIA_START.length;
    at += found;
    const isText = text[at - 1] === BACKSLASH;
    const mark = isText ? undefined : MEDIA_MARKS.find((one) => startsWith(text, at, one));
    if (mark === undefined) at += MEDIA_START.length;
    else {
      const end = text.indexOf('"', at + mark.length);
      const next = end === -1 ? text.length : end;
      media += 1;
      mediaBytes += next - at;
      at = next;
    }
  }
  return { bytes: text.length, media, mediaBytes };
}

function startsWith(text: Buffer, at: number, mark: string): boolean {
  return text.toString('latin1', at, at + mark.length) === mark;
}
