/**
 * `POST /v1/images/generations` and `POST /v1/images/edits` of the demo. A picture depends only on
 * the prompt, its index in the answer and the uploaded pictures.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { asText } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { listField, readForm, readJson, textField, jsonReply, DemoRefusal } from './reply.js';
import type { DemoReply } from './reply.js';

const MAX_IMAGES = 10;

const DEFAULT_SIZE = '512x512';

const MIN_SIDE = 64;

const MAX_SIDE = 4_096;

interface Order {
  readonly prompt: unknown;
  readonly n: unknown;
  readonly size: unknown;
  readonly sources: readonly Buffer[];
}

export async function replyToGeneration(request: IncomingMessage): Promise<DemoReply> {
  const { model, prompt, n, size } = await readJson(request);
  requireModel(model, 'image');
  return paint({ prompt, n, size, sources: [] });
}

export async function replyToEdit(request: IncomingMessage): Promise<DemoReply> {
  const form = await readForm(request);
  requireModel(form.get('model'), 'image');
  const images = listField(form, 'image').filter((value) => typeof value !== 'string');
  if (images.length === 0) {
    throw new DemoRefusal(400, '"image" is missing: send a picture to edit.', 'image');
  }
  const masks = listField(form, 'mask').filter((value) => typeof value !== 'string');
  const sources: Buffer[] = [];
  for (const file of [...images, ...masks]) sources.push(Buffer.from(await file.arrayBuffer()));
  const n = textField(form, 'n');
  const size = textField(form, 'size');
  return paint({ prompt: form.get('prompt'), n: n === null ? null : Number(n), size, sources });
}

async function paint(order: Order): Promise<DemoReply> {
  const prompt = asText(order.prompt);
  if (prompt === null) {
    throw new DemoRefusal(400, '"prompt" holds no text: say what to paint.', 'prompt');
  }
  const count = requireCount(order.n ?? 1);
  const size = requireSize(order.size ?? DEFAULT_SIZE);
  const data: { b64_json: string }[] = [];
  for (let index = 0; index < count; index++) {
    const seed = seedOf([Buffer.from(prompt), ...order.sources], index);
    const png = await encodePng(drawPattern(seed, size));
    data.push({ b64_json: png.toString('base64') });
  }
  return jsonReply({ created: Math.floor(SYSTEM_CLOCK.now() / 1000), data });
}

/** Includes lengths, so that the boundaries between parts also count. */
function seedOf(parts: readonly Buffer[], index: number): Buffer {
  const hash = createHash('sha256').update(String(index));
  for (const part of parts) hash.update(`:${part.length}:`).update(part);
  return hash.digest();
}

function requireCount(n: unknown): number {
  if (typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= MAX_IMAGES) return n;
  throw new DemoRefusal(400, `"n" is ${String(n)}: use 1 to ${MAX_IMAGES}.`, 'n');
}

/** OpenAI's clients may send `auto`, which leaves the size to the model. */
function requireSize(size: unknown): Size {
  const asked = size === 'auto' ? DEFAULT_SIZE : String(size);
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(asked) ?? []).map(Number);
  if (Math.min(width, height) >= MIN_SIDE && Math.max(width, height) <= MAX_SIDE) {
    return { width, height };
  }
  const rule = `use <width>x<height> with ${MIN_SIDE} to ${MAX_SIDE} pixels a side`;
  throw new DemoRefusal(400, `"size" is "${asked}": ${rule}.`, 'size');
}

// The demo's pictures: crossing waves of colour, computed from a seed only.
interface Size {
  readonly width: number;
  readonly height: number;
}

/** Larger pictures are drawn with larger dots: the demo shares its thread with the agent's link. */
const MAX_DRAWN = 1_024;

/** `seed`: at least 11 bytes, such as a digest. */
function drawPattern(seed: Buffer, { width, height }: Size): Dots {
  const scale = Math.ceil(Math.max(width, height) / MAX_DRAWN);
  const columns = Math.ceil(width / scale);
  const rows = Math.ceil(height / scale);
  const side = Math.max(columns, rows);
  const across = wave(columns, turns(seed[0], side), seed[1]);
  const down = wave(rows, turns(seed[2], side), seed[3]);
  const falling = wave(columns + rows, turns(seed[4], side), seed[5]);
  const rising = wave(columns + rows, turns(seed[6], side), seed[7]);
  const row = (y: number) => {
    const colours = new Uint8Array(columns);
    for (let x = 0; x < columns; x++) {
      const sum = at(across, x) + at(down, y) + at(falling, x + y) + at(rising, x - y + rows);
      colours[x] = Math.round((sum / 4 + 1) * 127.5);
    }
    return colours;
  };
  return { width, height, scale, palette: paletteOf(seed.subarray(8)), row };
}

/** Radians per dot: the longer side has between half a wave and two and a half. */
function turns(byte = 0, side: number): number {
  return (2 * Math.PI * (0.5 + byte / 128)) / side;
}

function wave(length: number, radians: number, phase = 0): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(i * radians + phase / 40));
}

/**
 * Red, green and blue swing once around a bright middle value, each with a small phase shift, so
 * that a picture's colours are similar and neighbours in the palette differ little.
 */
function paletteOf(seed: Buffer): Buffer {
  const start = (seed[0] ?? 0) / 256;
  const lag = 0.08 + (seed[1] ?? 0) / 1_500;
  const order = (seed[2] ?? 0) % 2 === 0 ? lag : -lag;
  const palette = Buffer.alloc(256 * 3);
  for (let i = 0; i < palette.length; i++) {
    const turn = Math.floor(i / 3) / 256 + start + (i % 3) * order;
    palette[i] = Math.round(150 + 100 * Math.cos(2 * Math.PI * turn));
  }
  return palette;
}

function at(table: Float64Array, index: number): number {
  return table[index] ?? 0;
}

// PNG files of one byte per pixel, each an index into a palette of 256 colours.

/** A picture drawn small and shown large: each of its dots covers `scale` × `scale` pixels. */
interface Dots {
  /** Size of the finished picture in pixels; the last dots may be cut. */
  readonly width: number;
  readonly height: number;
  readonly scale: number;
  /** 256 entries of red, green and blue. */
  readonly palette: Buffer;
  /** The colours of one row of dots, from left to right. */
  readonly row: (y: number) => Uint8Array;
}

/** How a line is stored: unchanged, or as the difference from the line above. */
const PLAIN = 0;

const SAME_AS_ABOVE = 2;

async function encodePng(dots: Dots): Promise<Buffer> {
  const packed = await promisify(deflate)(linesOf(dots), { level: 1 });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header(dots)),
    chunk('PLTE', dots.palette),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** One filter byte before each line. Repeated lines are zeros, which compress to almost nothing. */
function linesOf({ width, height, scale, row }: Dots): Buffer {
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    const line = lines.subarray(y * (width + 1), (y + 1) * (width + 1));
    line[0] = y % scale === 0 ? PLAIN : SAME_AS_ABOVE;
    if (y % scale === 0) spread(row(y / scale), scale, line);
  }
  return lines;
}

function spread(row: Uint8Array, scale: number, line: Buffer): void {
  for (let x = 1; x < line.length; x++) line[x] = row[Math.floor((x - 1) / scale)] ?? 0;
}

/** Eight bits per pixel from a palette; no interlacing. */
function header({ width, height }: Dots): Buffer {
  const body = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  return body;
}

/** The checksum covers the name and the body. */
function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
