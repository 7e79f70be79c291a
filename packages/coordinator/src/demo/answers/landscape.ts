/** The demo's pictures, generated from a seed: a sky, a sun or moon, and rows of hills. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { Random } from '../random.js';

type Colour = readonly [number, number, number];

/** Colours of the upper sky, the horizon, the nearest hill, and the sun or moon. */
interface Mood {
  readonly sky: Colour;
  readonly horizon: Colour;
  readonly ground: Colour;
  readonly light: Colour;
}

const MOODS: readonly [Mood, ...Mood[]] = [
  { sky: [44, 58, 110], horizon: [250, 176, 130], ground: [28, 30, 54], light: [255, 236, 190] },
  { sky: [120, 170, 214], horizon: [240, 236, 220], ground: [40, 84, 74], light: [255, 252, 236] },
  { sky: [22, 24, 60], horizon: [142, 104, 168], ground: [18, 20, 40], light: [236, 236, 250] },
  { sky: [214, 150, 100], horizon: [252, 222, 170], ground: [112, 60, 48], light: [255, 248, 224] },
  { sky: [70, 120, 128], horizon: [214, 226, 206], ground: [24, 58, 64], light: [252, 250, 230] },
];

const HILLS = 5;

const WAVES = 4;

export function drawLandscape(seed: number, width: number, height: number): Picture {
  const random = new Random(seed);
  const mood = random.pick(MOODS);
  const light = {
    x: random.between(0.2, 0.8) * width,
    y: random.between(0.2, 0.45) * height,
    radius: random.between(0.04, 0.09) * height,
  };
  const size = { width, height };
  const picture = { ...size, colours: new Uint8Array(width * height * 3) };
  paintSky(picture, mood, light);
  for (let hill = 0; hill < HILLS; hill++) {
    const shade = mix(mood.horizon, mood.ground, (hill + 1) / HILLS);
    paintHill(picture, ridge(random, hill, size), shade);
  }
  return picture;
}

interface Light {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

function paintSky({ width, height, colours }: Picture, mood: Mood, light: Light): void {
  for (let y = 0; y < height; y++) {
    const air = mix(mood.sky, mood.horizon, Math.min(1, (1.5 * y) / height));
    for (let x = 0; x < width; x++) {
      const away = Math.sqrt((x - light.x) ** 2 + (y - light.y) ** 2) / light.radius;
      const share = glow(away);
      for (let part = 0; part < 3; part++) {
        const from = air[part] ?? 0;
        colours[(y * width + x) * 3 + part] = from + ((mood.light[part] ?? 0) - from) * share;
      }
    }
  }
}

/** Paints from the hill's top down to the lower edge, over everything behind it. */
function paintHill(picture: Picture, tops: Float64Array, shade: Colour): void {
  const { width, height, colours } = picture;
  for (const [x, top] of tops.entries()) {
    for (let y = Math.max(0, Math.ceil(top)); y < height; y++) {
      colours.set(shade, (y * width + x) * 3);
    }
  }
}

/** Full strength inside the disc; outside it fades quickly. */
function glow(away: number): number {
  return away <= 1 ? 1 : 0.5 / (away * away);
}

/** The top of the hill for each column, in pixels from the upper edge. */
function ridge(
  random: Random,
  hill: number,
  { width, height }: Pick<Picture, 'width' | 'height'>,
): Float64Array {
  const waves = Array.from({ length: WAVES }, (_, wave) => ({
    high: random.between(0.2, 1) / 2 ** wave,
    turns: random.between(0.5, 1.5) * 2 ** wave,
    phase: random.between(0, 2 * Math.PI),
  }));
  const middle = height * (0.48 + (0.42 * hill) / HILLS);
  return Float64Array.from({ length: width }, (_, x) => {
    const sum = waves.reduce(
      (total, { high, turns, phase }) =>
        total + high * Math.sin((2 * Math.PI * turns * x) / width + phase),
      0,
    );
    return middle + sum * height * 0.055;
  });
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const part = (a: number, b: number): number => Math.round(a + (b - a) * share);
  return [part(from[0], to[0]), part(from[1], to[1]), part(from[2], to[2])];
}

// Writes PNG files with eight bits per colour, without a library.

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row. */
  readonly colours: Uint8Array;
}

const BYTES_A_PIXEL = 3;

/** Stores each row as its difference from the row above: skies shrink to a third. */
const FILTER_UP = 2;

const PACKING = { level: 6 } as const;

export async function encodePng({ width, height, colours }: Picture): Promise<Buffer> {
  const stride = width * BYTES_A_PIXEL;
  const lines = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const line = lines.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    line[0] = FILTER_UP;
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : (colours[(y - 1) * stride + x] ?? 0);
      line[x + 1] = ((colours[y * stride + x] ?? 0) - above) & 0xff;
    }
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header(width, height)),
    chunk('IDAT', await promisify(deflate)(lines, PACKING)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function header(width: number, height: number): Buffer {
  const body = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  return body;
}

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
