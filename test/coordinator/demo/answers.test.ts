/** The demo's pictures and sounds: they depend only on a seed, and other programs can read them. */
import { drawLandscape, encodePng } from '@inference-gateway/coordinator/demo/answers/landscape';
import { chords, hum, wordSeconds } from '@inference-gateway/coordinator/demo/answers/sound';
import { Random, seedOf } from '@inference-gateway/coordinator/demo/random';
import { expect, test } from 'vitest';
import { runFfmpeg } from '../../support/pictures.js';

const PIXELS = ['-f', 'png_pipe', '-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24'];
const SAMPLES = ['-i', 'pipe:0', '-f', 's16le'];
const SAMPLE_BYTES_A_SECOND = 32_000;

test('a picture is read by another program exactly as it was drawn', async () => {
  const picture = drawLandscape(seedOf('A lighthouse'), 40, 30);
  const read = await runFfmpeg(PIXELS, await encodePng(picture));
  expect(read.equals(Buffer.from(picture.colours))).toBe(true);
});

test('a picture is the same for the same seed, and another for another', () => {
  expect(coloursOf(1)).toBe(coloursOf(1));
  expect(coloursOf(1)).not.toBe(coloursOf(2));
});

test('what is hummed is as long as its words, and is heard', async () => {
  const words = ['The', 'gate', 'is', 'open.'];
  const seconds = words.reduce((sum, word) => sum + wordSeconds(word), 0.2);
  const read = await runFfmpeg(SAMPLES, hum(words, 200, 1));
  expect(read.length / SAMPLE_BYTES_A_SECOND).toBeCloseTo(seconds, 2);
  expect(Math.max(...new Int16Array(read.buffer, read.byteOffset, 4_000))).toBeGreaterThan(2_000);
});

test('music is as long as was asked for', async () => {
  const read = await runFfmpeg(SAMPLES, chords(3, 1));
  expect(read.length / SAMPLE_BYTES_A_SECOND).toBeCloseTo(3, 2);
});

test('a seed repeats its numbers, which lie where they should', () => {
  expect(numbersOf(5)).toEqual(numbersOf(5));
  expect(numbersOf(5)).not.toEqual(numbersOf(6));
  expect(Math.min(...numbersOf(5))).toBeGreaterThanOrEqual(2);
  expect(Math.max(...numbersOf(5))).toBeLessThan(3);
  const mean = numbersOf(5).reduce((sum, one) => sum + one, 0) / 200;
  expect(mean).toBeCloseTo(2.5, 1);
});

function coloursOf(seed: number): string {
  return Buffer.from(drawLandscape(seed, 20, 20).colours).toString('hex');
}

function numbersOf(seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: 200 }, () => random.between(2, 3));
}
