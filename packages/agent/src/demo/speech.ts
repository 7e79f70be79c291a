/** `POST /v1/audio/speech` of the demo: always a WAV file, whatever format is asked for. */
import type { IncomingMessage } from 'node:http';
import { asText } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { readJson } from './read-body.js';
import { DemoRefusal } from './refusal.js';
import type { DemoReply } from './reply.js';
import { VOICES, WORD_SAMPLES, soundWord, wordsOf } from './tones.js';
import type { Voice } from './tones.js';
import { frameWav } from '../media/wav.js';
import type { WavFrame, WavNotes } from '../media/wav.js';

/** Four times what a coordinator lets through by default; at worst 42 minutes of sound. */
const MAX_INPUT_CHARACTERS = 20_000;
const DEFAULT_VOICE: Voice = 'demo-low';

/** Tells the comments that the demo left in a file from those of other programs. */
const MADE_BY = 'Inference Gateway demo';

/** What was said in a recording of the demo's; null where another program made the file. */
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
