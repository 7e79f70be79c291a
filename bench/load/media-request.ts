import { randomFillSync } from 'node:crypto';
import { BENCH_MODEL, VECTORS } from './job.js';
import type { Target } from './job.js';
import { postForm, postJson } from './post.js';

const WAV_HEADER_BYTES = 44;
const SAMPLES_PER_SECOND = 16_000;
const SAMPLE_BYTES = 2;

export async function uploadRequest(target: Target, fileBytes: number): Promise<Buffer> {
  const form = new FormData();
  form.append('file', new File([noiseWav(fileBytes)], 'noise.wav', { type: 'audio/wav' }));
  form.append('model', BENCH_MODEL);
  return postForm(target, '/v1/audio/transcriptions', form);
}

/** With the bytes in the answer, so that every subject sends the same. */
export function imageRequest(target: Target): Buffer {
  const wish = { prompt: 'A fox and a dog.', response_format: 'b64_json' };
  return postJson(target, '/v1/images/generations', { model: BENCH_MODEL, ...wish });
}

export function vectorsRequest(target: Target): Buffer {
  const input = Array.from({ length: VECTORS.texts }, (_, i) => `text ${i}`);
  return postJson(target, '/v1/embeddings', { model: BENCH_MODEL, input });
}

/** Mono, 16 bits, 16 kHz, and nothing but noise: no byte of it can be guessed or left out. */
export function noiseWav(fileBytes: number): Buffer<ArrayBuffer> {
  const wav = Buffer.alloc(fileBytes);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(fileBytes - 8, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  wav.writeUInt32LE(SAMPLES_PER_SECOND * SAMPLE_BYTES, 28);
  wav.writeUInt16LE(SAMPLE_BYTES, 32);
  wav.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(fileBytes - WAV_HEADER_BYTES, 40);
  randomFillSync(wav, WAV_HEADER_BYTES);
  return wav;
}
