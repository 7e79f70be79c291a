/** Numbers of a caller's fields; those of forms are texts, so a text may be a number. */
import { asText } from './json.js';

export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The nearest within the range; null for what is no number. */
export function readNumber(value: unknown, { from, to }: NumberRange): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(number, from), to);
}

/** `1024x768`; null for anything else. */
export function readSize(size: unknown): PixelSize | null {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(asText(size) ?? '') ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}
