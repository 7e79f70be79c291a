/**
 * Limits an agent's token counts to what the bytes on its link allow: they are the agent's own
 * report, and the totals of members and owners are computed from them.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf, sequencesOf } from '@inference-gateway/shared/openai/kinds';
import { limitOf, TOKENS_A_MEDIUM } from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';

/** Size of a request in bytes, and of the media in it. */
export interface RequestSize {
  readonly bytes: number;
  readonly media: number;
  readonly mediaBytes: number;
}

/** What a text request asks for. */
export interface AskedTokens {
  /** Number of answers: those to one prompt, times the prompts. */
  readonly sequences: number;
  /** For one answer; null if the request names no limit. */
  readonly maxTokens: number | null;
}

/** The limits for the token counts of one answer. */
export interface TokenBounds extends AskedTokens {
  /** Null if the request is no longer available. Called only if it is needed. */
  readonly request: () => RequestSize | null;
}

/** What was sent over the link for one answer, and what its request allowed. */
export interface WireCount extends TokenBounds {
  /** The agent's report; null if it sent none. */
  readonly told: TokenUsage | null;
  /** Bytes of the answer, including those that came after it was canceled. */
  readonly answerBytes: number;
  readonly stream: boolean;
}

/** Null if the endpoint's answers are not text: then the request is not read. */
export function askedTokens(
  endpoint: EndpointKey,
  read: () => Readonly<Record<string, unknown>>,
): AskedTokens | null {
  if (kindOf(endpoint).counts !== 'tokens') return null;
  const fields = read();
  // Numbers are no tokens.
  const maxTokens = kindOf(endpoint).text === null ? 0 : limitOf(fields);
  return { sequences: sequencesOf(endpoint, fields), maxTokens };
}

/** The same for a request that only its agent still has. */
export function lostBounds(endpoint: EndpointKey, size: RequestSize | null): TokenBounds | null {
  const asked = askedTokens(endpoint, () => ({}));
  return asked === null ? null : { ...asked, request: () => size };
}

export interface MeteredTokens {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The model server did not count them, or the report exceeds what the bytes allow. */
  readonly estimated: boolean;
}

export const NO_TOKENS: MeteredTokens = {
  promptTokens: 0,
  completionTokens: 0,
  estimated: false,
};

/** What is metered of an agent's last message. */
export interface Metered extends MeteredTokens {
  /** Joules that the card took for the run, or its share of them; absent or null: unknown. */
  readonly energyJ?: number | null;
}

/** More than the cards of one machine can take: 16 of 1,200 W. */
export const MAX_WATTS = 20_000;

/** What an agent tells of a run that took at most so long; null if it cannot be. */
export function meteredEnergy(told: number | undefined, ranMs: number): number | null {
  if (told === undefined || !(told > 0)) return null;
  return told <= (MAX_WATTS * ranMs) / 1_000 ? told : null;
}

/** The metered values of one request. */
export interface UsageNumbers extends Metered {
  /** Milliseconds of audio, input or output. */
  readonly audioMs: number;
  readonly images: number;
  readonly queueMs: number;
  /** Null if there was none. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

/** More tokens than any one call can have. */
const MAX_TOKENS = 10_000_000;
/** Longer than any file can be: a file's header may claim any length. */
const MAX_AUDIO_MS = 30 * 86_400_000;

/**
 * The numbers of a usage row, for calls and jobs. The agent's report is untrusted, and the wall
 * clock may have been set back meanwhile: sums must stay whole numbers and must never decrease.
 */
export function usageNumbers(told: UsageNumbers): UsageNumbers {
  return {
    promptTokens: counted(told.promptTokens, MAX_TOKENS),
    completionTokens: counted(told.completionTokens, MAX_TOKENS),
    estimated: told.estimated,
    energyJ: told.energyJ ?? null,
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

/** What a chat template, with its own instructions and those for tools, adds to a prompt. */
const TEMPLATE_TOKENS = 2_048;
/** Tokens of an image or a sound beyond its base64 bytes: the most that vision models produce. */
const MEDIUM_TOKENS = 16_384;
/** Tokens without a byte in the answer: ends of turns and empty chunks. */
const SILENT_TOKENS = 256;
/** Overhead in bytes of a stream event and of a document, and bytes of text per token. */
const EVENT_BYTES = 200;
const DOCUMENT_BYTES = 400;
const TOKEN_BYTES = 4;

/**
 * A token has at least one byte, and no answer exceeds its limit; thinking that is not sent counts
 * up to that limit. If no answer byte came and the agent reported nothing, nothing is counted.
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
  // Nearly all prompts are this short, so the request need not be scanned.
  if ((told?.prompt_tokens ?? 0) <= TEMPLATE_TOKENS) return TEMPLATE_TOKENS;
  const size = request();
  if (size === null) return MAX_TOKENS;
  const most = size.bytes + TEMPLATE_TOKENS * sequences + size.media * MEDIUM_TOKENS;
  return Math.min(MAX_TOKENS, most);
}

/** The most tokens that a model server can have counted in a prompt of text. */
export function mostCounted(request: Uint8Array): number {
  return Math.min(MAX_TOKENS, request.length + TEMPLATE_TOKENS);
}

/** From the bytes alone, if the agent reports nothing or is gone. */
function estimated(wire: WireCount): MeteredTokens {
  const { answerBytes, request, stream, sequences } = wire;
  const { bytes, media, mediaBytes } = request() ?? NOTHING_KNOWN;
  const completion = stream
    ? answerBytes / EVENT_BYTES
    : Math.max(0, answerBytes - DOCUMENT_BYTES * sequences) / TOKEN_BYTES;
  return {
    promptTokens: promptTokensOf({ bytes, media, mediaBytes }),
    completionTokens: Math.min(mostCompletion(wire), Math.ceil(completion)),
    estimated: true,
  };
}

/** An estimate from the size of a request. */
export function promptTokensOf({ bytes, media, mediaBytes }: RequestSize): number {
  const text = Math.ceil((bytes - mediaBytes) / TOKEN_BYTES);
  return Math.min(MAX_TOKENS, text + media * TOKENS_A_MEDIUM);
}

const NOTHING_KNOWN: RequestSize = { bytes: 0, media: 0, mediaBytes: 0 };

/**
 * Bytes of a request, without its media, that are searched for media: most requests are smaller.
 */
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** With this many, there is no useful bound left. */
const MAX_MEDIA = 4_096;
/** The text before a `data:` URL, and before base64 with the name of its format. */
const MEDIA_START = '"data';
const BACKSLASH = 0x5c;
const MEDIA_MARKS = ['"data:', '"data":"'];

/**
 * Runs on the event loop, where searching 32 MiB full of quotes takes most of a second: anything
 * after `MAX_SEARCHED_BYTES` of text counts as text.
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
