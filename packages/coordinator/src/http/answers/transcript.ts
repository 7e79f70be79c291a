/** A transcript in the requested form (specification, section 2, Transcription). */
import { ApiError } from '@inference-gateway/shared/errors';
import { BODY_LIMITS, jsonFault } from '@inference-gateway/shared/json/scan';
import * as z from 'zod';
import type { Measures } from '../../assets/measures.js';
import { JSON_TYPE } from './json-answer.js';
import type { Render, Rendered } from './json-answer.js';

export interface TranscriptForm {
  /** `downgraded`: `verbose_json` without timestamps in any model: only the text, as JSON. */
  readonly format: 'json' | 'text' | 'verbose_json' | 'srt' | 'vtt' | 'downgraded';
  /** Fields of `verbose_json`. */
  readonly granularities: readonly string[];
  /** Duration of the uploaded file, if it can be measured. */
  readonly seconds: Promise<number | null>;
}

/** What a transcript needs besides the provider's document. */
export interface TranscriptFacts extends Omit<TranscriptForm, 'seconds'> {
  /** Duration of the file; null if it could not be measured. */
  readonly seconds: number | null;
}

/** Renders transcripts that are too large for the event loop (`large-bodies.ts`). */
export type RenderLarge = (
  document: Buffer,
  facts: TranscriptFacts,
) => Promise<Rendered | ApiError | string>;

/** Hours of speech, with every word and token. */
const MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024;
/** Bytes that are rendered on the event loop: some milliseconds. */
const MAX_SMALL_BYTES = 256 * 1024;
const SMALL_LIMITS = { ...BODY_LIMITS, maxValues: 5_000, maxNumbers: 20_000 };

const seconds = z.number().min(0).max(1e9);
const transcript = z.object({
  text: z.string(),
  language: z.string().max(64).nullish().catch(null),
  duration: seconds.nullish().catch(null),
  segments: z.array(z.unknown()).nullish().catch(null),
  words: z.array(z.unknown()).nullish().catch(null),
});
const segment = z.looseObject({});
const word = z.object({ word: z.string(), start: seconds, end: seconds });

/** Fields that OpenAI's segments always have: the AI SDK refuses a transcript without them. */
const SEGMENT = {
  seek: 0,
  text: '',
  start: 0,
  end: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
};

type Transcript = z.infer<typeof transcript>;

/** The duration is measured by the gateway; the provider's value is used only if that fails. */
export function renderTranscript(form: TranscriptForm, renderLarge: RenderLarge): Render {
  return async (document) => {
    if (document.length > MAX_TRANSCRIPT_BYTES) return 'it is longer than 8 MiB';
    const facts = { ...form, seconds: await form.seconds };
    const isSmall =
      document.length <= MAX_SMALL_BYTES && jsonFault(document, SMALL_LIMITS) === null;
    return isSmall ? transcriptOf(document, facts) : renderLarge(document, facts);
  };
}

/** The transcript, or an error of the provider's document or the caller's request. */
export function transcriptOf(
  document: Buffer,
  facts: TranscriptFacts,
): Rendered | ApiError | string {
  const fault = jsonFault(document);
  if (fault !== null) return fault;
  const parsed = transcript.safeParse(parse(document));
  if (!parsed.success) return 'it is no transcript';
  const known = facts.seconds ?? parsed.data.duration ?? null;
  return render(parsed.data, known === null ? null : round(known), facts);
}

function render(
  spoken: Transcript,
  duration: number | null,
  form: TranscriptFacts,
): Rendered | ApiError {
  const measures: Measures = { audioMs: Math.round((duration ?? 0) * 1000), images: 0 };
  if (form.format === 'text') {
    return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(spoken.text), measures };
  }
  if (form.format === 'srt' || form.format === 'vtt') {
    const subtitles = subtitlesOf(spoken, form.format);
    return subtitles instanceof ApiError ? subtitles : { ...subtitles, measures };
  }
  const { text, language, segments, words } = spoken;
  const wanted = (name: string): boolean => form.granularities.includes(name);
  const isPlain = form.format === 'downgraded';
  const shown = {
    text,
    ...(language && !isPlain && { language }),
    ...(duration !== null && !isPlain && { duration }),
    ...(form.format === 'verbose_json' && {
      ...(wanted('segment') && { segments: allOf(segment, segments).map(fillSegment) }),
      ...(wanted('word') && { words: allOf(word, words) }),
    }),
    usage: { type: 'duration', seconds: duration ?? 0 },
  };
  return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(shown)), measures };
}

const cue = z.object({ text: z.string(), start: seconds, end: seconds });

/**
 * Built from the segments, a cue each, because not every server creates subtitles. Silence has
 * none; speech without segments has no times.
 */
function subtitlesOf(
  { text, segments }: Transcript,
  format: 'srt' | 'vtt',
): Pick<Rendered, 'contentType' | 'body'> | ApiError {
  const cues = allOf(cue, segments)
    .map((one) => ({ ...one, text: cueText(one.text) }))
    .filter((one) => one.text !== '');
  if (cues.length === 0 && text.trim() !== '') return noSubtitles(format);
  if (format === 'vtt') {
    const blocks = cues.map((one) => `${span(one, '.')}\n${escapeVtt(one.text)}\n\n`);
    return {
      contentType: 'text/vtt; charset=utf-8',
      body: Buffer.from(`WEBVTT\n\n${blocks.join('')}`),
    };
  }
  const blocks = cues.map((one, i) => `${i + 1}\n${span(one, ',')}\n${one.text}\n\n`);
  return { contentType: 'application/x-subrip; charset=utf-8', body: Buffer.from(blocks.join('')) };
}

function noSubtitles(format: string): ApiError {
  const message =
    `'response_format' is '${format}', and this model tells no times, of which subtitles are ` +
    "made. Ask for json, text or verbose_json, or a model with 'timestamps' in its " +
    'supported_features.';
  return new ApiError('unsupported_value', message, { param: 'response_format' });
}

/** In one line, because an empty line would end the cue. */
function cueText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function span({ start, end }: z.infer<typeof cue>, mark: ',' | '.'): string {
  return `${clock(start, mark)} --> ${clock(Math.max(start, end), mark)}`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}

/** `01:02:03,456`; SRT has a comma, WebVTT a full stop. */
function clock(time: number, mark: ',' | '.'): string {
  const ms = Math.round(time * 1000);
  const hours = two(ms / 3_600_000);
  const rest = `${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${hours}:${rest}${mark}${String(ms % 1000).padStart(3, '0')}`;
}

/**
 * All of them, or none if one is invalid: zod would record every invalid one, and an agent can send
 * millions.
 */
function allOf<T>(schema: z.ZodType<T>, items: readonly unknown[] | null | undefined): T[] {
  const read: T[] = [];
  for (const item of items ?? []) {
    const parsed = schema.safeParse(item);
    if (!parsed.success) return [];
    read.push(parsed.data);
  }
  return read;
}

/** Further fields of a segment are passed on unchanged. */
function fillSegment(segment: Record<string, unknown>, id: number): Record<string, unknown> {
  const said = Object.entries(segment).filter(([, value]) => value !== null);
  return { id, ...SEGMENT, ...Object.fromEntries(said) };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function parse(document: Buffer): unknown {
  try {
    return JSON.parse(document.toString());
  } catch {
    return null;
  }
}
