/**
 * Runs a request's workflow and returns its files. A workflow without `{{n}}` runs once for each
 * image, one after the other: a batch needs n times the memory of the card, and this way each image
 * can be sent on as soon as it is ready.
 */
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import { contentTypeOf, DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media/types';
import { randomInt } from 'node:crypto';
import { startOf } from '../../media/start-of.js';
import { streamWithoutMetadata } from '../../media/stream-without-metadata.js';
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { readNumber, readSize } from '../../openai-wire/request-body.js';
import type { NumberRange } from '../../openai-wire/request-body.js';
import { LocalFailure } from '../backend.js';
import type { LocalAnswer, MediaPart, LocalCall } from '../backend.js';
import { forward } from '../forward.js';
import type { ComfyServer } from './comfy-server.js';
import type { Made } from './run-prompt.js';
import { fillGraph, isPlaceholderName, PLACEHOLDERS, placeholdersOf } from './workflow.js';
import type { Graph, Placeholder, PlaceholderName, Value } from './workflow.js';
import { runPrompt } from './run-prompt.js';

export interface Order {
  readonly graph: Graph;
  readonly values: Values;
  readonly family: MediaFamily;
  /** Number of files; one unless they are images. */
  readonly wanted: number;
  readonly signal: AbortSignal;
}

/** The first run ends before the answer begins, so that its failure can have an error status. */
export async function makeMedia(server: ComfyServer, order: Order): Promise<LocalAnswer> {
  const first = await run(server, order, 0);
  if (first.kind === 'document') return first;
  return { kind: 'media', parts: parts(server, order, filesOf(first, order)) };
}

async function* parts(
  server: ComfyServer,
  order: Order,
  first: readonly MadeFile[],
): AsyncGenerator<MediaPart, void, void> {
  let had = 0;
  for (let files = first; ; files = await again(server, order, had)) {
    for (const file of files.slice(0, order.wanted - had)) {
      yield await openMade(server, file, order);
      had += 1;
    }
    if (had >= order.wanted) return;
  }
}

async function again(server: ComfyServer, order: Order, had: number): Promise<MadeFile[]> {
  const made = await run(server, order, had);
  if (made.kind === 'made') return filesOf(made, order);
  const message = `ComfyUI made ${had} of ${order.wanted} images and then failed.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** The same seed would make the same image again. */
async function run(server: ComfyServer, { graph, values, signal }: Order, had: number) {
  const seed = Number(values.get('seed')) + had;
  const now = new Map(values).set('seed', seed);
  return runPrompt(
    server,
    fillGraph(graph, (place) => valueOf(place, now)),
    signal,
  );
}

/** At least one. */
function filesOf({ outputs }: Made, { family }: Order): MadeFile[] {
  const files = madeFiles(outputs, family);
  if (files.length > 0) return files;
  throw new LocalFailure('LOCAL_ERROR', `the workflow ended without a file of ${family}.`);
}

// The files that a job made: the selection for the answer, and their bytes.
interface MadeFile {
  readonly filename: string;
  readonly subfolder: string;
  /** The folder: `output`, or `temp` for previews. */
  readonly type: string;
}

/**
 * Nodes list videos under `images`, `gifs` or `videos`, so the file extension tells the family.
 * Previews count only if nothing was saved.
 */
function madeFiles(outputs: JsonObject, family: MediaFamily): MadeFile[] {
  const all = Object.values(outputs).flatMap((node) => {
    const lists = Object.values(asObject(node) ?? {});
    return lists.flatMap(asObjects).flatMap(readFile);
  });
  const fitting = all.filter(({ filename }) => ENDINGS[family].test(filename));
  const saved = fitting.filter(({ type }) => type === 'output');
  return saved.length > 0 ? saved : fitting;
}

/** Without metadata. */
async function openMade(
  server: ComfyServer,
  file: MadeFile,
  { family, signal }: { readonly family: MediaFamily; readonly signal: AbortSignal },
): Promise<MediaPart> {
  const bytes = await view(server, file, signal);
  const { start, bytes: whole } = await startOf(bytes, DETECT_BYTES);
  const { format, contentType } = formatOf(start, family);
  return { contentType, revisedPrompt: null, bytes: streamWithoutMetadata(whole, format) };
}

const ENDINGS = {
  image: /\.(?:png|jpe?g|webp)$/i,
  video: /\.(?:mp4|m4v|mov|webm|mkv)$/i,
  audio: /\.(?:flac|mp3|opus|ogg|wav|m4a|aac)$/i,
} as const satisfies Record<MediaFamily, RegExp>;

function readFile({ filename, subfolder, type }: JsonObject): MadeFile[] {
  const name = asText(filename);
  if (name === null) return [];
  return [{ filename: name, subfolder: asText(subfolder) ?? '', type: asText(type) ?? 'output' }];
}

async function view(
  { root, apiKey }: ComfyServer,
  { filename, subfolder, type }: MadeFile,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const query = new URLSearchParams({ filename, subfolder, type });
  const answer = await forward({
    url: `${root}/view?${query.toString()}`,
    apiKey,
    body: null,
    signal,
  });
  if (answer.status === 200) return answer.body;
  answer.body.abandon();
  const message = `ComfyUI answered ${answer.status} to a file that it had just made.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** Detected from the bytes, not from the name. */
function formatOf(start: Uint8Array, family: MediaFamily) {
  const format = detectFormat(start);
  const contentType = format === null ? null : contentTypeOf(format, family);
  if (format !== null && contentType !== null) return { format, contentType };
  throw new LocalFailure('LOCAL_ERROR', `the workflow made something that is no ${family}.`);
}

// The values that a caller's fields put into a workflow, each limited to what a card can compute.

type Values = ReadonlyMap<PlaceholderName, Value>;

type Body = LocalCall['body'];

interface NumberRule extends NumberRange {
  /** The fields for this value, by the names of several APIs; the first one present counts. */
  readonly fields: readonly string[];
  readonly isWhole?: true;
}

/** A caller must not occupy the card for hours; ComfyUI's own limits are far above these. */
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

/** Defaults if neither the caller nor the workflow has a value. */
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

/** Without the pictures. Always sets a seed: otherwise each call would make the same result. */
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
  // A value that is not a number is ignored; a negative one means random, as with the web UI.
  if (!values.has('seed') || Number(body['seed']) < 0) {
    values.set('seed', randomInt(MAX_RANDOM_SEED));
  }
  return withFrames(values, graph);
}

/** A placeholder's value, else its own default, else the usual one. */
export function valueOf({ name, fallback }: Placeholder, values: Values): Value {
  if (!isPlaceholderName(name)) return '';
  const given = values.get(name);
  if (given !== undefined) return given;
  if (fallback === null) return OTHERWISE[name] ?? '';
  return PLACEHOLDERS[name] === 'number' ? Number(fallback) : fallback;
}

/** Video models count frames: one first frame, plus the frame rate times the seconds. */
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
