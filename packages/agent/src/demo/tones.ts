/** What the demo voices sound like: each word is a soft tone or two, always equally long. */
import { SAMPLE_RATE } from '../media/wav.js';

/** What every word takes, the silence behind it included, in seconds. */
export const WORD_S = 0.25;
export const WORD_SAMPLES = WORD_S * SAMPLE_RATE;

/** The lowest tone of each voice in Hertz; the first voice is the default. */
export const VOICES = { 'demo-low': 220, 'demo-high': 440 } as const;
export type Voice = keyof typeof VOICES;

/** Steps of a pentatonic scale in semitones: whatever follows upon each other sounds well. */
const STEPS = [0, 2, 4, 7, 9, 12] as const;
/** Longer words have two tones. */
const SHORT_WORD = 4;
/** The silence between two words, as a part of a word's time. */
const GAP = 0.12;
/** Of full scale, well below clipping together with the overtone. */
const LOUDNESS = 0.4;
const OVERTONE = 0.25;

/** The samples of one word, 16 bits each in little endian. */
export function soundWord(word: string, voice: Voice): Buffer {
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

/** Swells and fades over its whole length: a sudden start or end would click. */
function soundTone(samples: Buffer, hertz: number): void {
  const count = samples.length / 2;
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * hertz * i) / SAMPLE_RATE;
    const swell = Math.sin((Math.PI * i) / count) ** 2;
    const wave = (Math.sin(angle) + OVERTONE * Math.sin(2 * angle)) * swell * LOUDNESS;
    samples.writeInt16LE(Math.round(wave * 32_767), i * 2);
  }
}

/** The same word is always the same tune. */
function step(word: string, position: number): number {
  let sum = position * 3;
  for (let i = 0; i < word.length; i++) sum += word.charCodeAt(i);
  return STEPS[sum % STEPS.length] ?? 0;
}
