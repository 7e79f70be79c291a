/** Answers for speech, music, voices and transcriptions. */
import {
  CHUNK_HEADER_BYTES,
  chunkAt,
  chunkEnd,
  isWav,
} from '@inference-gateway/shared/media/wav-header';
import { RIFF_HEADER_BYTES } from '@inference-gateway/shared/media/wav-header';
import { seedOf } from '../random.js';
import { HEARD } from '../topics.js';
import type { Answer, Call } from './answer.js';
import { countOf, textOf, work } from './answer.js';
import { chords, hum } from './sound.js';

/** About four minutes of speech. */
const MAX_WORDS = 600;
const MUSIC_S = { least: 3, most: 30, otherwise: 12 } as const;
const LOW_HERTZ = 165;
const HIGH_HERTZ = 247;
/** Assumed for files of unknown length; typical of compressed sound. */
const BYTES_A_SECOND = 16_000;
const MAX_HEARD_S = 3_600;

export async function* answerSpeech(call: Call): Answer {
  const text = textOf(call, 'input');
  const words = (text.match(/\S+/g) ?? ['?']).slice(0, MAX_WORDS);
  const hertz = textOf(call, 'voice').startsWith('am_') ? LOW_HERTZ : HIGH_HERTZ;
  yield* work(call.random.between(500, 900) + 25 * words.length, call.signal);
  yield* sound(hum(words, hertz, seedOf(text)));
  return null;
}

export async function* answerMusic(call: Call): Answer {
  const seconds = countOf(call, 'audio_duration', MUSIC_S);
  yield* work(call.random.between(6_000, 11_000), call.signal);
  yield* sound(chords(seconds, seedOf(textOf(call, 'prompt'))));
  return null;
}

async function* sound(bytes: Buffer) {
  yield { kind: 'head', contentType: 'multipart/mixed' } as const;
  yield { kind: 'file', contentType: 'audio/wav' } as const;
  yield { kind: 'data', bytes } as const;
}

export async function* answerVoices(voices: readonly string[]): Answer {
  yield { kind: 'head', contentType: 'application/json' };
  yield { kind: 'data', bytes: Buffer.from(JSON.stringify({ voices })) };
  return null;
}

/** A fixed text, spread over the length of the recording. */
export async function* answerTranscription(call: Call): Answer {
  const seconds = secondsOf(call.files);
  yield* work(400 + Math.min(seconds * 60, 8_000), call.signal);
  const heard = HEARD[seedOf(String(call.files.length)) % HEARD.length] ?? HEARD[0];
  const words = timed(heard.match(/\S+/g) ?? [], seconds);
  const transcript = {
    task: 'transcribe',
    language: 'en',
    duration: seconds,
    text: words.map(({ word }) => word).join(' '),
    words,
    segments: sentencesOf(words),
  };
  yield { kind: 'head', contentType: 'application/json' };
  yield { kind: 'data', bytes: Buffer.from(JSON.stringify(transcript)) };
  return null;
}

interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Gives each word a duration by its number of letters. */
function timed(words: readonly string[], seconds: number): TimedWord[] {
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  let atS = 0;
  return words.map((word) => {
    const start = atS;
    atS += (seconds * (word.length + 1)) / letters;
    return { word, start: rounded(start), end: rounded(atS) };
  });
}

function sentencesOf(words: readonly TimedWord[]): object[] {
  const sentences: TimedWord[][] = [[]];
  for (const word of words) {
    sentences.at(-1)?.push(word);
    if (/[.!?]$/.test(word.word)) sentences.push([]);
  }
  return sentences.flatMap((sentence, id) => {
    const [first, last] = [sentence.at(0), sentence.at(-1)];
    if (first === undefined || last === undefined) return [];
    const text = sentence.map(({ word }) => word).join(' ');
    return [{ id, start: first.start, end: last.end, text }];
  });
}

/** Exact for WAV, which has its byte rate in the header; estimated for other formats. */
function secondsOf(file: Uint8Array): number {
  const seconds = (isWav(file) ? wavSeconds(file) : null) ?? file.length / BYTES_A_SECOND;
  return rounded(Math.min(Math.max(seconds, 0.5), MAX_HEARD_S));
}

function wavSeconds(file: Uint8Array): number | null {
  let bytesASecond = 0;
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= file.length;) {
    const chunk = chunkAt(file, at);
    if (chunk.name === 'fmt ') bytesASecond = Buffer.from(file).readUInt32LE(at + 16);
    if (chunk.name === 'data' && bytesASecond > 0) {
      return Math.min(chunk.bytes, file.length - at) / bytesASecond;
    }
    at = chunkEnd(at, chunk);
  }
  return null;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
