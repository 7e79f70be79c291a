/** WAV: PCM of 8 to 32 bits and floats in; PCM of 16 bits out. */
import { writeSync } from 'node:fs';
import { frameWav } from '../wav.js';
import type { FileBytes } from './file-bytes.js';
import { BrokenSound, UnknownSound } from './sound.js';
import type { Block, Sound } from './sound.js';

const CHUNK_HEAD_BYTES = 8;
/** More chunks than any recorder writes before its samples. */
const MAX_CHUNKS = 1_000;
const BLOCK_FRAMES = 8_192;
const PCM = 1;
const FLOAT = 3;
/** The format is in a later field, as the first two bytes of an identifier. */
const EXTENSIBLE = 0xfffe;

interface Format {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytes: number;
  readonly sample: (buffer: Buffer, at: number) => number;
}

export function readWavSound(file: FileBytes): Sound {
  let format: Format | null = null;
  let at = 12;
  for (let count = 0; count < MAX_CHUNKS; count++) {
    const head = file.read(at, CHUNK_HEAD_BYTES);
    if (head.length < CHUNK_HEAD_BYTES) break;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    at += CHUNK_HEAD_BYTES;
    if (name === 'fmt ') format = readFormat(file.read(at, Math.min(size, 40)));
    if (name === 'data') {
      if (format === null) throw new BrokenSound('it has samples before their format');
      const { sampleRate, channels } = format;
      // A streamed file has a false size: its samples then extend to the end.
      return { sampleRate, channels, blocks: blocksOf(file, format, { at, end: at + size }) };
    }
    at += size + (size % 2);
  }
  throw new BrokenSound('it has no samples');
}

function readFormat(chunk: Buffer): Format {
  if (chunk.length < 16) throw new BrokenSound('its format is cut off');
  const tag = chunk.readUInt16LE(0);
  const kind = tag === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const bits = chunk.readUInt16LE(14);
  const sample = READERS[`${kind}:${bits}`];
  if (sample === undefined) throw new UnknownSound(`a WAV of format ${kind} with ${bits} bits`);
  const sampleRate = chunk.readUInt32LE(4);
  return { channels: chunk.readUInt16LE(2), sampleRate, bytes: bits / 8, sample };
}

const READERS: Readonly<Record<string, Format['sample']>> = {
  [`${PCM}:8`]: (buffer, at) => (buffer.readUInt8(at) - 0x80) / 0x80,
  [`${PCM}:16`]: (buffer, at) => buffer.readInt16LE(at) / 0x8000,
  [`${PCM}:24`]: (buffer, at) => buffer.readIntLE(at, 3) / 0x80_0000,
  [`${PCM}:32`]: (buffer, at) => buffer.readInt32LE(at) / 0x8000_0000,
  [`${FLOAT}:32`]: (buffer, at) => finite(buffer.readFloatLE(at)),
  [`${FLOAT}:64`]: (buffer, at) => finite(buffer.readDoubleLE(at)),
};

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function* blocksOf(
  file: FileBytes,
  { channels, bytes, sample }: Format,
  { at, end }: { readonly at: number; readonly end: number },
): Generator<Block> {
  const frameBytes = channels * bytes;
  const last = Math.min(end, file.size);
  for (let from = at; from + frameBytes <= last; from += BLOCK_FRAMES * frameBytes) {
    const wanted = Math.min(BLOCK_FRAMES * frameBytes, last - from);
    const buffer = file.read(from, wanted);
    const frames = Math.floor(buffer.length / frameBytes);
    yield Array.from({ length: channels }, (_, channel) => {
      const samples = new Float32Array(frames);
      const first = channel * bytes;
      for (let i = 0; i < frames; i++) samples[i] = sample(buffer, i * frameBytes + first);
      return samples;
    });
  }
}

/** Writes a WAV of 16 bits with a true header into the open file. Returns its bytes. */
export function writeWav(file: number, sound: Sound, limitBytes: number): number {
  const { channels, sampleRate } = sound;
  let at = frameWav(0).head.length;
  for (const block of sound.blocks) {
    const bytes = pcm16(block);
    if (at + bytes.length >= limitBytes)
      throw new BrokenSound(`it makes more than ${limitBytes} bytes`);
    writeSync(file, bytes, 0, bytes.length, at);
    at += bytes.length;
  }
  const head = frameWav(0, new Map(), sampleRate).head;
  const dataBytes = at - head.length;
  head.writeUInt32LE(at - CHUNK_HEAD_BYTES, 4);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate * channels * 2, 28);
  head.writeUInt16LE(channels * 2, 32);
  head.writeUInt32LE(dataBytes, head.length - 4);
  writeSync(file, head, 0, head.length, 0);
  return at;
}

function pcm16(block: Block): Buffer {
  const frames = block[0]?.length ?? 0;
  const bytes = Buffer.allocUnsafe(frames * block.length * 2);
  block.forEach((samples, channel) => {
    for (let i = 0; i < frames; i++) {
      const value = Math.round((samples[i] ?? 0) * 0x8000);
      bytes.writeInt16LE(
        Math.max(-0x8000, Math.min(0x7fff, value)),
        (i * block.length + channel) * 2,
      );
    }
  });
  return bytes;
}
