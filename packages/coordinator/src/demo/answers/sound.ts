/** The demo's sounds: speech is a hummed melody with one tone per word, music is slow chords. */
import { Random } from '../random.js';

const SAMPLE_RATE = 16_000;
const BYTES_A_SAMPLE = 2;
const HEADER_BYTES = 44;
/** Part of full scale; leaves room for the overtones. */
const LOUDNESS = 0.3 * 32_767;
/** Semitones of a pentatonic scale, in which any sequence of notes sounds pleasant. */
const STEPS: readonly [number, ...number[]] = [0, 2, 4, 7, 9, 12];
const FADE_S = 0.03;

interface Tone {
  readonly hertz: number;
  readonly startS: number;
  readonly durationS: number;
}

/** Longer for longer words, with a pause after a sentence. */
export function wordSeconds(word: string): number {
  const pauseS = /[.!?,]$/.test(word) ? 0.25 : 0.04;
  return toneSeconds(word) + pauseS;
}

function toneSeconds(word: string): number {
  return Math.min(0.1 + 0.045 * word.length, 0.6);
}

export function hum(words: readonly string[], baseHertz: number, seed: number): Buffer {
  const random = new Random(seed);
  let atS = 0;
  const tones = words.map((word): Tone => {
    const startS = atS;
    atS += wordSeconds(word);
    const hertz = baseHertz * 2 ** (random.pick(STEPS) / 12);
    return { hertz, startS, durationS: toneSeconds(word) };
  });
  return wavOf(tones, atS + 0.2);
}

export function chords(seconds: number, seed: number): Buffer {
  const random = new Random(seed);
  const chordS = 1.5;
  const tones = Array.from({ length: Math.floor(seconds / chordS) }, (_, chord) =>
    [0, 7, random.pick(STEPS) + 12].map((step): Tone => {
      const hertz = 130.8 * 2 ** ((random.pick(STEPS) / 2 + step) / 12);
      return { hertz, startS: chord * chordS, durationS: chordS };
    }),
  );
  return wavOf(tones.flat(), seconds);
}

function wavOf(tones: readonly Tone[], seconds: number): Buffer {
  const samples = new Float64Array(Math.ceil(seconds * SAMPLE_RATE));
  for (const tone of tones) add(samples, tone);
  const bytes = samples.length * BYTES_A_SAMPLE;
  const file = Buffer.alloc(HEADER_BYTES + bytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * BYTES_A_SAMPLE, 28);
  file.writeUInt16LE(BYTES_A_SAMPLE, 32);
  file.writeUInt16LE(8 * BYTES_A_SAMPLE, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(bytes, 40);
  for (const [index, value] of samples.entries()) {
    const loud = Math.max(-1, Math.min(1, value)) * LOUDNESS;
    file.writeInt16LE(Math.round(loud), HEADER_BYTES + index * BYTES_A_SAMPLE);
  }
  return file;
}

/** Adds a tone with two overtones. It fades in and out so that it does not click. */
function add(samples: Float64Array, { hertz, startS, durationS }: Tone): void {
  const first = Math.round(startS * SAMPLE_RATE);
  const length = Math.round(durationS * SAMPLE_RATE);
  for (let i = 0; i < length && first + i < samples.length; i++) {
    const turn = (2 * Math.PI * hertz * i) / SAMPLE_RATE;
    const shape = Math.min(1, i / (FADE_S * SAMPLE_RATE), (length - i) / (FADE_S * SAMPLE_RATE));
    const value = Math.sin(turn) + 0.4 * Math.sin(2 * turn) + 0.15 * Math.sin(3 * turn);
    samples[first + i] = (samples[first + i] ?? 0) + 0.5 * shape * value;
  }
}
