/** A transcript in the form that its caller asked for (specification, section 2, Transcription). */
import * as z from 'zod';
import type { Measures } from '../../assets/measures.js';
import { JSON_TYPE } from './json-answer.js';
import type { Render, Rendered } from './json-answer.js';

export interface TranscriptForm {
  /** `downgraded` is `verbose_json` where no model has timestamps: the text alone, as JSON. */
  readonly format: 'json' | 'text' | 'verbose_json' | 'downgraded';
  /** What `verbose_json` shows. */
  readonly granularities: readonly string[];
  /** Of the uploaded file, as far as it can be measured. */
  readonly seconds: Promise<number | null>;
}

/** Hours of speech, with every word and token. */
const MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024;

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

/** What OpenAI's own segments always hold: the AI SDK refuses a transcript without any of it. */
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

/** The duration is the gateway's own measurement; the provider's counts only where that fails. */
export function renderTranscript(form: TranscriptForm): Render {
  return async (document) => {
    if (document.length > MAX_TRANSCRIPT_BYTES) return 'it is longer than 8 MiB';
    const parsed = transcript.safeParse(parse(document));
    if (!parsed.success) return 'it is no transcript';
    const duration = round((await form.seconds) ?? parsed.data.duration ?? 0);
    return render(parsed.data, duration, form);
  };
}

function render(spoken: Transcript, duration: number, form: TranscriptForm): Rendered {
  const measures: Measures = { audioMs: Math.round(duration * 1000), images: 0 };
  if (form.format === 'text') {
    return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(spoken.text), measures };
  }
  const { text, language, segments, words } = spoken;
  const wanted = (name: string): boolean => form.granularities.includes(name);
  const isPlain = form.format === 'downgraded';
  const shown = {
    text,
    ...(language && !isPlain && { language }),
    ...(!isPlain && { duration }),
    ...(form.format === 'verbose_json' && {
      ...(wanted('segment') && { segments: allOf(segment, segments).map(fillSegment) }),
      ...(wanted('word') && { words: allOf(word, words) }),
    }),
    usage: { type: 'duration', seconds: duration },
  };
  return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(shown)), measures };
}

/**
 * All of them, or none where one is wrong: zod would note every wrong one, and an agent can send
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

/** What the provider says of a segment stays as it is. */
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
