/** What a caller's fields put into a workflow, each held within what a card can be asked for. */
import { randomInt } from 'node:crypto';
import type { LocalCall } from '../backend.js';
import { asText } from '../../openai-wire/json.js';
import { readNumber, readSize } from '../../openai-wire/number-field.js';
import type { NumberRange } from '../../openai-wire/number-field.js';
import { isPlaceholderName, PLACEHOLDERS, placeholdersOf } from './placeholders.js';
import type { Graph, Placeholder, PlaceholderName, Value } from './placeholders.js';

export type Values = ReadonlyMap<PlaceholderName, Value>;

type Body = LocalCall['body'];

interface NumberRule extends NumberRange {
  /** The fields that say it, by the names of several APIs; the first that is there counts. */
  readonly fields: readonly string[];
  readonly isWhole?: true;
}

/** A caller must not hold the card for hours; ComfyUI's own limits are far above these. */
const NUMBERS = {
  seed: { fields: ['seed'], from: 0, to: Number.MAX_SAFE_INTEGER, isWhole: true },
  n: { fields: ['n'], from: 1, to: 16, isWhole: true },
  width: { fields: ['width'], from: 64, to: 4_096, isWhole: true },
  height: { fields: ['height'], from: 64, to: 4_096, isWhole: true },
  steps: { fields: ['steps', 'num_inference_steps'], from: 1, to: 150, isWhole: true },
  cfg: { fields: ['cfg_scale', 'guidance_scale'], from: 0, to: 30 },
  denoise: { fields: ['denoising_strength', 'strength'], from: 0, to: 1 },
  seconds: { fields: ['seconds', 'duration', 'audio_duration'], from: 0.1, to: 600 },
  fps: { fields: ['fps'], from: 1, to: 120, isWhole: true },
} as const satisfies Partial<Record<PlaceholderName, NumberRule>>;

/** Where neither the caller nor the workflow says anything. */
const OTHERWISE: Partial<Record<PlaceholderName, Value>> = {
  negative_prompt: '',
  lyrics: '',
  n: 1,
  width: 1_024,
  height: 1_024,
  steps: 20,
  cfg: 7,
  denoise: 0.75,
  seconds: 5,
  fps: 24,
  frames: 121,
};

/** The models work on blocks of 8 by 8 pixels. */
const BLOCK = 8;
const MAX_RANDOM_SEED = 2 ** 32;

/** Without the pictures. There is always a seed: without one each call would make the same. */
export function requestValues(body: Body, graph: Graph): Map<PlaceholderName, Value> {
  const values = new Map<PlaceholderName, Value>();
  for (const name of ['prompt', 'negative_prompt', 'lyrics'] as const) {
    const text = asText(body[name]);
    if (text !== null) values.set(name, text);
  }
  for (const [name, rule] of Object.entries(NUMBERS)) {
    const number = numberIn({ ...body, ...readSize(body['size']) }, rule);
    if (isPlaceholderName(name) && number !== null) values.set(name, number);
  }
  for (const side of ['width', 'height'] as const) {
    const pixels = values.get(side);
    if (pixels !== undefined) values.set(side, Math.round(Number(pixels) / BLOCK) * BLOCK);
  }
  // What is no number is no seed; below zero stands for any, as with the web UI.
  if (!values.has('seed') || Number(body['seed']) < 0) {
    values.set('seed', randomInt(MAX_RANDOM_SEED));
  }
  return withFrames(values, graph);
}

/** A place's value, or else its own default, or else a usual one. */
export function valueOf({ name, fallback }: Placeholder, values: Values): Value {
  if (!isPlaceholderName(name)) return '';
  const given = values.get(name);
  if (given !== undefined) return given;
  if (fallback === null) return OTHERWISE[name] ?? '';
  return PLACEHOLDERS[name] === 'number' ? Number(fallback) : fallback;
}

/**
 * Models for films count frames: a first one, and then as many a second as the film shows.
 */
function withFrames(
  values: Map<PlaceholderName, Value>,
  graph: Graph,
): Map<PlaceholderName, Value> {
  const seconds = values.get('seconds');
  if (seconds === undefined) return values;
  const place = placeholdersOf(graph).find(({ name }) => name === 'fps');
  const fps = valueOf(place ?? { name: 'fps', fallback: null }, values);
  return values.set('frames', Math.round(Number(seconds) * Number(fps)) + 1);
}

function numberIn(body: Body, { fields, isWhole, ...range }: NumberRule): number | null {
  const written = fields
    .map((field) => body[field])
    .find((value) => value !== undefined && value !== null);
  const number = readNumber(written, range);
  return number !== null && isWhole === true ? Math.round(number) : number;
}
