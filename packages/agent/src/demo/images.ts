/**
 * `POST /v1/images/generations` and `POST /v1/images/edits` of the demo. A picture depends on the
 * prompt, its place in the answer and the pictures sent along, and on nothing else.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { asText } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { drawPattern } from './pattern.js';
import type { Size } from './pattern.js';
import { encodePng } from './png.js';
import { listField, readForm, readJson, textField } from './read-body.js';
import { DemoRefusal } from './refusal.js';
import { jsonReply } from './reply.js';
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
  return jsonReply({ created: Math.floor(Date.now() / 1000), data });
}

/** Lengths are mixed in, so that where one part ends and the next begins counts too. */
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
