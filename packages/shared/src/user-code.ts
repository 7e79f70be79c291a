/** The code that a machine shows and a person types to let it in: `BCDF-GHJK`. */
import { randomCharacters } from './ids.js';

/**
 * RFC 8628, section 6.1: no vowels, so that no code is a word, and nothing that is read as
 * something else. 20^8 codes.
 */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const HALF = 4;
const CODE = new RegExp(`^[${ALPHABET}]{${2 * HALF}}$`);

export function newUserCode(): string {
  return inHalves(randomCharacters(ALPHABET, 2 * HALF));
}

/** As it is shown, whatever its case, its spaces and hyphens; null where it can be no code. */
export function readUserCode(typed: string): string | null {
  const letters = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  return CODE.test(letters) ? inHalves(letters) : null;
}

function inHalves(letters: string): string {
  return `${letters.slice(0, HALF)}-${letters.slice(HALF)}`;
}
