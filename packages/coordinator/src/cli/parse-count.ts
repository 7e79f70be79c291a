/** A whole number as people write it. How large it may be is for the operation to say. */
import { InvalidArgumentError } from 'commander';

/** Throws commander's usage error. */
export function parseCount(written: string): number {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  throw new InvalidArgumentError('Write a whole number of at least 1.');
}
