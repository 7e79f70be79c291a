/** Whether an answer is what its endpoint promises; read to its end either way. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import * as z from 'zod';
import { parseJson } from '../../openai-wire/json.js';
import type { DocumentAnswer, EventAnswer, LocalAnswer, MediaAnswer } from '../backend.js';

export interface TrialAnswer {
  /** What is wrong with it; null where nothing is. */
  readonly fault: string | null;
  readonly firstByteMs: number | null;
  readonly tokens: number | null;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** Throws what reading it throws. */
export async function readTrialAnswer(
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
