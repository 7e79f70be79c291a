/** The demo's pictures: waves of colour that cross each other, made from a seed alone. */
import type { Dots } from './png.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Larger pictures are drawn with larger dots: the demo shares its thread with the agent's link.
 */
const MAX_DRAWN = 1_024;

/** `seed`: at least 11 bytes, such as a digest. */
export function drawPattern(seed: Buffer, { width, height }: Size): Dots {
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

/** Radians a dot: the longer side holds between half a wave and two and a half. */
function turns(byte = 0, side: number): number {
  return (2 * Math.PI * (0.5 + byte / 128)) / side;
}

function wave(length: number, radians: number, phase = 0): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(i * radians + phase / 40));
}

/**
 * Red, green and blue swing once around a bright middle, each a little after the one before, so
 * that the colours of a picture are akin and neighbours in the palette differ by little.
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
