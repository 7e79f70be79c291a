import { beforeAll, describe, expect, test } from 'vitest';
import { demoClient, refusalOf } from './demo-client.js';
import type { DemoClient } from './demo-client.js';

/** What the demo promises of every word. */
const WORD_S = 0.25;
const FULL_SCALE = 32_767;

let demo: DemoClient;

beforeAll(async () => {
  demo = await demoClient();
  return () => demo.close();
});

async function speak(input: string, changes: object = {}): Promise<Buffer> {
  const answer = await demo.post('/audio/speech', { model: 'demo-voice', input, ...changes });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('audio/wav');
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(Number(answer.headers.get('content-length'))).toBe(bytes.length);
  return bytes;
}

function samplesOf(wav: Buffer): number[] {
  const dataBytes = wav.readUInt32LE(40);
  return Array.from({ length: dataBytes / 2 }, (_, i) => wav.readInt16LE(44 + 2 * i));
}

function loudnessOf(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
}

/** How often the wave rises through zero: its pitch. */
function rises(samples: readonly number[]): number {
  return samples.filter((one, i) => one > 0 && (samples[i - 1] ?? 0) <= 0).length;
}

test('is a WAV file whose header tells the truth', async () => {
  const wav = await speak('three odd words');
  expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
  expect(wav.toString('latin1', 8, 16)).toBe('WAVEfmt ');
  expect(wav.readUInt32LE(16)).toBe(16);
  const [format, channels] = [wav.readUInt16LE(20), wav.readUInt16LE(22)];
  expect({ format, channels }).toEqual({ format: 1, channels: 1 });
  const [rate, byteRate] = [wav.readUInt32LE(24), wav.readUInt32LE(28)];
  expect({ rate, byteRate }).toEqual({ rate: 24_000, byteRate: 48_000 });
  const [block, bits] = [wav.readUInt16LE(32), wav.readUInt16LE(34)];
  expect({ block, bits }).toEqual({ block: 2, bits: 16 });
  expect(wav.toString('latin1', 36, 40)).toBe('data');
  const listAt = 44 + wav.readUInt32LE(40);
  expect(wav.toString('latin1', listAt, listAt + 4)).toBe('LIST');
  expect(listAt + 8 + wav.readUInt32LE(listAt + 4)).toBe(wav.length);
});

test.each([
  ['a word', 'one', 1],
  ['three words in much space', '  spaces \n around   three  ', 3],
  ['400 words', 'word '.repeat(400), 400],
])('lasts a quarter of a second a word: %s', async (_, input, words) => {
  const wav = await speak(input);
  expect(wav.readUInt32LE(40) / wav.readUInt32LE(28)).toBe(words * WORD_S);
});

test('can be heard in every word, and never clips', async () => {
  const samples = samplesOf(await speak('Hello from a friendly machine'));
  const wordLength = samples.length / 5;
  for (let word = 0; word < 5; word++) {
    const part = samples.slice(word * wordLength, (word + 1) * wordLength);
    expect(loudnessOf(part)).toBeGreaterThan(0.1 * FULL_SCALE);
  }
  expect(samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).toBeLessThan(
    0.9 * FULL_SCALE,
  );
});

test('does not click: samples rise gently, and each word starts and ends in silence', async () => {
  const samples = samplesOf(await speak('Hello from a friendly machine'));
  const jumps = samples.map((one, i) => Math.abs(one - (samples[i - 1] ?? 0)));
  expect(jumps.reduce((most, one) => Math.max(most, one), 0)).toBeLessThan(0.15 * FULL_SCALE);
  const wordLength = samples.length / 5;
  for (let word = 0; word < 5; word++) {
    expect(samples[word * wordLength]).toBe(0);
    expect(samples[(word + 1) * wordLength - 1]).toBe(0);
  }
});

test('depends on the request alone: the same words sound the same, others do not', async () => {
  const [first, again] = [await speak('good morning'), await speak('good morning')];
  expect(first.equals(again)).toBe(true);
  const [one, other] = [samplesOf(first), samplesOf(await speak('good evening'))];
  const half = one.length / 2;
  expect(other.slice(0, half)).toEqual(one.slice(0, half));
  expect(other.slice(half)).not.toEqual(one.slice(half));
});

test('every listed voice sounds, each at its own pitch; without one it is the first', async () => {
  const listed = await fetch(`${demo.baseUrl}/audio/voices?model=demo-voice`);
  expect(await listed.json()).toEqual({ voices: ['demo-low', 'demo-high'] });
  const low = await speak('hum', { voice: 'demo-low' });
  const high = await speak('hum', { voice: 'demo-high' });
  expect(rises(samplesOf(high)) / rises(samplesOf(low))).toBeCloseTo(2, 1);
  expect((await speak('hum')).equals(low)).toBe(true);
});

test('is WAV, and says so, whatever format is asked for', async () => {
  const mp3 = await speak('hello', { response_format: 'mp3' });
  expect(mp3.equals(await speak('hello', { response_format: 'wav' }))).toBe(true);
});

test('is what the OpenAI client asks for', async () => {
  const request = { model: 'demo-voice', input: 'two words', voice: 'demo-high' };
  const answer = await demo.openai.audio.speech.create({ ...request, response_format: 'wav' });
  const wav = Buffer.from(await answer.arrayBuffer());
  expect(wav.readUInt32LE(40)).toBe(2 * WORD_S * 48_000);
});

describe('refuses, naming the field:', () => {
  test.each([
    ['no text', { input: undefined }, 'input'],
    ['blank text', { input: ' \n' }, 'input'],
    ['text that is none', { input: 5 }, 'input'],
    ['too much text', { input: 'a'.repeat(20_001) }, 'input'],
    ['an unknown voice', { voice: 'alloy' }, 'voice'],
    ['a voice that is none', { voice: 7 }, 'voice'],
  ])('%s', async (_, changes, param) => {
    const answer = await demo.post('/audio/speech', {
      model: 'demo-voice',
      input: 'hello',
      ...changes,
    });
    expect(await refusalOf(answer)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param,
    });
  });

  test('a model of another type', async () => {
    const answer = await demo.post('/audio/speech', { model: 'demo-chat', input: 'hello' });
    expect(await refusalOf(answer)).toMatchObject({ status: 404, param: 'model' });
  });

  test('but not the longest text allowed', async () => {
    await speak('a'.repeat(20_000));
  });
});
