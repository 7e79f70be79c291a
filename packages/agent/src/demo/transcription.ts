/**
 * `POST /v1/audio/transcriptions` of the demo: the exact text of a recording made by demo speech,
 * and the duration of any other recording.
 */
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { listField, readForm, textField, jsonReply, textReply, DemoRefusal } from './reply.js';
import type { DemoReply } from './reply.js';
import { spokenText, WORD_S, wordsOf } from './speech.js';
import { readWav } from '../media/wav.js';

const FORMATS = ['json', 'text', 'verbose_json'] as const;
const GRANULARITIES = ['segment', 'word'] as const;
type Granularity = (typeof GRANULARITIES)[number];

interface Heard {
  readonly text: string;
  /** Null if the file does not contain it: a guess would be taken for a measurement. */
  readonly durationS: number | null;
}

export async function replyToTranscription(request: IncomingMessage): Promise<DemoReply> {
  const form = await readForm(request);
  requireModel(form.get('model'), 'stt');
  const file = form.get('file');
  if (file === null || typeof file === 'string') {
    throw new DemoRefusal(400, '"file" is missing: send a recording.', 'file');
  }
  const format = oneOf(FORMATS, textField(form, 'response_format') ?? 'json', 'response_format');
  const heard = listen(Buffer.from(await file.arrayBuffer()));
  if (format === 'text') return textReply(`${heard.text}\n`, 'text/plain; charset=utf-8');
  if (format === 'json') return jsonReply({ text: heard.text });
  return jsonReply(verbose(heard, form));
}

function listen(bytes: Buffer): Heard {
  const wav = readWav(bytes);
  const durationS = wav?.durationS ?? null;
  const spoken = wav === null ? null : spokenText(wav.notes);
  const length =
    durationS === null
      ? `${bytes.length.toLocaleString('en-US')} bytes`
      : `${durationS.toFixed(1)} seconds`;
  return { text: spoken ?? `A recording of ${length}.`, durationS };
}

function verbose(heard: Heard, form: FormData): JsonObject {
  const asked = listField(form, 'timestamp_granularities').map((value) =>
    oneOf(GRANULARITIES, value, 'timestamp_granularities'),
  );
  const wanted: readonly Granularity[] = asked.length > 0 ? asked : ['segment'];
  const words = timedWords(heard);
  return {
    task: 'transcribe',
    language: textField(form, 'language') ?? 'en',
    ...(heard.durationS !== null && { duration: heard.durationS }),
    text: heard.text,
    ...(wanted.includes('segment') && { segments: sentences(words).map(segment) }),
    ...(wanted.includes('word') && { words }),
  };
}

interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Spread evenly over the recording, which matches the demo's own recordings. */
function timedWords({ text, durationS }: Heard): TimedWord[] {
  const words = wordsOf(text);
  const eachS = durationS === null ? WORD_S : durationS / words.length;
  return words.map((word, index) => ({
    word,
    start: milliseconds(index * eachS),
    end: milliseconds((index + 1) * eachS),
  }));
}

/** A sentence ends with the word that has its punctuation mark. */
function sentences(words: readonly TimedWord[]): TimedWord[][] {
  const sentences: TimedWord[][] = [];
  let isOpen = false;
  for (const word of words) {
    if (isOpen) sentences.at(-1)?.push(word);
    else sentences.push([word]);
    isOpen = !/[.!?…。！？]["')\]»”’]*$/u.test(word.word);
  }
  return sentences;
}

/** Includes the decoder's values that OpenAI's clients declare as always present. */
function segment(words: readonly TimedWord[], id: number): JsonObject {
  return {
    id,
    seek: 0,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text: words.map(({ word }) => word).join(' '),
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function oneOf<T extends string>(choices: readonly T[], value: unknown, param: string): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const text = `"${param}" is "${String(value)}": use ${choices.join(', ')}.`;
  throw new DemoRefusal(400, text, param);
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
