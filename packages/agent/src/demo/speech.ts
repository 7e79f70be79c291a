/** `POST /v1/audio/speech` of the demo: always a WAV file, for any requested format. */
import type { IncomingMessage } from 'node:http';
import { asText } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { readJson, DemoRefusal } from './reply.js';
import type { DemoReply } from './reply.js';
import { frameWav, SAMPLE_RATE } from '../media/wav.js';
import type { WavFrame, WavNotes } from '../media/wav.js';

/** Four times a coordinator's default limit; at most 42 minutes of sound. */
const MAX_INPUT_CHARACTERS = 20_000;

/** The lowest tone of each voice in Hertz; the first voice is the default. */
export const VOICES = { 'demo-low': 220, 'demo-high': 440 } as const;

const DEFAULT_VOICE: Voice = 'demo-low';

/** Marks the demo's comments in a file, to distinguish them from those of other programs. */
const MADE_BY = 'Inference Gateway demo';

/** The text spoken in a recording of the demo; null if another program made the file. */
export function spokenText(notes: WavNotes): string | null {
  return notes.get('ISFT') === MADE_BY ? (notes.get('ICMT') ?? null) : null;
}

export async function replyToSpeech(request: IncomingMessage): Promise<DemoReply> {
  const body = await readJson(request);
  requireModel(body['model'], 'tts');
  const text = requireInput(body['input']);
  const voice = requireVoice(body['voice'] ?? DEFAULT_VOICE);
  const words = wordsOf(text);
  const notes = new Map([
    ['ISFT', MADE_BY],
    ['ICMT', text],
  ]);
  const frame = frameWav(words.length * WORD_SAMPLES, notes);
  const sound = speak(words, voice, frame);
  return { status: 200, contentType: 'audio/wav', bytes: frame.bytes, body: sound };
}

function* speak(words: readonly string[], voice: Voice, frame: WavFrame): Generator<Buffer> {
  yield frame.head;
  for (const word of words) yield soundWord(word, voice);
  yield frame.tail;
}

function requireInput(input: unknown): string {
  const text = asText(input);
  if (text === null || wordsOf(text).length === 0) {
    throw new DemoRefusal(400, '"input" holds no text: send the words to speak.', 'input');
  }
  if (text.length <= MAX_INPUT_CHARACTERS) return text;
  const found = `"input" has ${text.length} characters`;
  throw new DemoRefusal(400, `${found}: send at most ${MAX_INPUT_CHARACTERS}.`, 'input');
}

function requireVoice(voice: unknown): Voice {
  if (typeof voice === 'string' && isVoice(voice)) return voice;
  const names = Object.keys(VOICES).join(' or ');
  throw new DemoRefusal(400, `There is no voice "${String(voice)}" here. Use ${names}.`, 'voice');
}

function isVoice(name: string): name is Voice {
  return Object.hasOwn(VOICES, name);
}

// The sound of the demo voices: each word is one or two soft tones of constant total length.

/** Seconds per word, including the silence after it. */
export const WORD_S = 0.25;

const WORD_SAMPLES = WORD_S * SAMPLE_RATE;

type Voice = keyof typeof VOICES;

/** Steps of a pentatonic scale in semitones: any sequence of them sounds pleasant. */
const STEPS = [0, 2, 4, 7, 9, 12] as const;

/** Longer words have two tones. */
const SHORT_WORD = 4;

/** The silence between two words, as a fraction of a word's time. */
const GAP = 0.12;

/** As a fraction of full scale; together with the overtone well below clipping. */
const LOUDNESS = 0.4;

const OVERTONE = 0.25;

/** The samples of one word, 16 bits each in little endian. */
function soundWord(word: string, voice: Voice): Buffer {
  const samples = Buffer.alloc(WORD_SAMPLES * 2);
  const tones = word.length > SHORT_WORD ? [step(word, 0), step(word, 1)] : [step(word, 0)];
  const length = Math.floor((WORD_SAMPLES * (1 - GAP)) / tones.length);
  for (const [index, semitones] of tones.entries()) {
    const hertz = VOICES[voice] * 2 ** (semitones / 12);
    soundTone(samples.subarray(index * length * 2, (index + 1) * length * 2), hertz);
  }
  return samples;
}

export function wordsOf(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

/** Fades in and out over its whole length: a sudden start or end would click. */
function soundTone(samples: Buffer, hertz: number): void {
  const count = samples.length / 2;
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * hertz * i) / SAMPLE_RATE;
    const swell = Math.sin((Math.PI * i) / count) ** 2;
    const wave = (Math.sin(angle) + OVERTONE * Math.sin(2 * angle)) * swell * LOUDNESS;
    samples.writeInt16LE(Math.round(wave * 32_767), i * 2);
  }
}

/** The same word always has the same tune. */
function step(word: string, position: number): number {
  let sum = position * 3;
  for (let i = 0; i < word.length; i++) sum += word.charCodeAt(i);
  return STEPS[sum % STEPS.length] ?? 0;
}
