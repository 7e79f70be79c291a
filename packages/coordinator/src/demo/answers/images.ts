/** `/images/generations` and `/images/edits`: one landscape per requested picture. */
import { seedOf } from '../random.js';
import type { Answer, Call, Piece } from './answer.js';
import { DemoFailure, countOf, textOf, work } from './answer.js';
import { drawLandscape, encodePng } from './landscape.js';

const MAX_IMAGES = 4;
const DEFAULT_SIDE = 512;
/** The coordinator's main thread draws the pictures: about 0.1 s per megapixel. */
const MAX_SIDE = 1_024;
/** Larger pictures fail as if the card had too little memory. */
const MAX_FITTING_SIDE = 1_536;
const MIN_SIDE = 64;
/** The time until that failure. */
const LOADING_MS = 800;
const FAST_MS = { least: 3_000, most: 6_000 } as const;
const SLOW_MS = { least: 7_000, most: 13_000 } as const;

export async function* answerImages(call: Call): Answer {
  const count = countOf(call, 'n', { least: 1, most: MAX_IMAGES, otherwise: 1 });
  const { least, most } = call.model.includes('schnell') ? FAST_MS : SLOW_MS;
  const size = sizeOf(textOf(call, 'size'));
  const fits = Math.max(size.width, size.height) <= MAX_FITTING_SIDE;
  yield* work(fits ? count * call.random.between(least, most) : LOADING_MS, call.signal);
  if (!fits) throw outOfMemory(size);
  yield { kind: 'head', contentType: 'multipart/mixed' };
  for (let index = 0; index < count; index++) yield* picture(call, index, size);
  return null;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The same prompt and files always give the same picture. */
async function* picture(call: Call, index: number, size: Size): AsyncGenerator<Piece> {
  const scale = Math.min(1, MAX_SIDE / Math.max(size.width, size.height));
  const side = (pixels: number): number => Math.max(MIN_SIDE, Math.round(pixels * scale));
  const seed = seedOf(`${textOf(call, 'prompt')} ${index} ${call.files.length}`);
  const picture = drawLandscape(seed, side(size.width), side(size.height));
  yield { kind: 'file', contentType: 'image/png' };
  yield { kind: 'data', bytes: await encodePng(picture) };
}

function sizeOf(size: string): Size {
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(size);
  return match === null
    ? { width: DEFAULT_SIDE, height: DEFAULT_SIDE }
    : { width: sideOf(match[1]), height: sideOf(match[2]) };
}

function sideOf(text: string | undefined): number {
  return Math.max(MIN_SIDE, Number(text));
}

function outOfMemory({ width, height }: Size): DemoFailure {
  const message = `CUDA out of memory while making ${width} by ${height} pixels`;
  return new DemoFailure('LOCAL_ERROR', message);
}
