/**
 * Ids and secrets. Rows have ULIDs, which sort by time. Secrets have a prefix for their purpose and
 * a checksum, so that an incomplete paste is distinguished from a revoked key without a lookup.
 */

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SECRET_CHARACTERS = 43;

const CHECKSUM_CHARACTERS = 6;

/**
 * Purposes of secrets: `gwk_` API key, `gwa_` agent token, `gwj_` join token, `gwd_` device code,
 * `gwi_` invite, `gws_` browser session, `gwf_` set-up of the first administrator, `gwe_` an Atom
 * feed, `gwr_` a new password.
 */
export type SecretPrefix = 'gwk' | 'gwa' | 'gwj' | 'gwd' | 'gwi' | 'gws' | 'gwf' | 'gwe' | 'gwr';

/** A ULID: 10 characters of milliseconds and 16 of randomness (80 bits). */
export function ulid(nowMs: number): string {
  return written(nowMs, CROCKFORD, 10) + randomCharacters(CROCKFORD, 16);
}

/**
 * The id of one HTTP request, as `x-request-id` shows it: `req_`, 7 characters of milliseconds (to
 * the year 2081) and 13 of randomness (77 bits). They sort by time, so that their rows are written
 * to the last page of an index and not to a page of its own each.
 */
export function requestId(nowMs: number): string {
  return `req_${written(nowMs, BASE62, 7)}${randomCharacters(BASE62, 13)}`;
}

/** An unguessable id of 131 bits: a session, a claim, an agent instance. */
export function randomId(): string {
  return randomCharacters(BASE62, 22);
}

/** A secret of 256 bits with its prefix and checksum: `gwk_` + 43 base62 + 6 characters. */
export function newSecret(prefix: SecretPrefix): string {
  const body = randomCharacters(BASE62, SECRET_CHARACTERS);
  return `${prefix}_${body}${checksum(body)}`;
}

/** True when the text has the form of such a secret and its checksum fits. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  const length = prefix.length + 1 + SECRET_CHARACTERS + CHECKSUM_CHARACTERS;
  if (text.length !== length || !text.startsWith(`${prefix}_`)) return false;
  const body = text.slice(prefix.length + 1, -CHECKSUM_CHARACTERS);
  return text.endsWith(checksum(body));
}

/** A whole number in the digits of this alphabet; of a longer one the last digits. */
function written(value: number, digits: string, length: number): string {
  let text = '';
  for (let rest = Math.floor(value), i = 0; i < length; i++) {
    text = digits.charAt(rest % digits.length) + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

/** Uniformly distributed characters. */
export function randomCharacters(alphabet: string, count: number): string {
  // Bytes beyond the last whole multiple of the alphabet are drawn again: a plain modulo would
  // prefer its first characters.
  const limit = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < count) {
    const byte = randomByte();
    if (byte < limit) text += alphabet.charAt(byte % alphabet.length);
  }
  return text;
}

/**
 * Random bytes drawn in advance: the call costs more than the bytes, and every request has an id.
 */
const drawn = new Uint8Array(4096);

let drawnLeft = 0;

function randomByte(): number {
  if (drawnLeft === 0) {
    crypto.getRandomValues(drawn);
    drawnLeft = drawn.length;
  }
  drawnLeft -= 1;
  const byte = drawn[drawnLeft] ?? 0;
  // Overwritten: a secret must not be in memory twice.
  drawn[drawnLeft] = 0;
  return byte;
}

/** CRC-32 (IEEE 802.3, reflected) of the text in base62, six characters. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return written((crc ^ 0xffffffff) >>> 0, BASE62, CHECKSUM_CHARACTERS);
}

// The user code of a device log-in: `BCDF-GHJK`.

/**
 * RFC 8628, section 6.1: no vowels, so that no code is a word, and no ambiguous characters. 20^8
 * codes.
 */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';

const HALF = 4;

const CODE = new RegExp(`^[${ALPHABET}]{${2 * HALF}}$`);

export function newUserCode(): string {
  return inHalves(randomCharacters(ALPHABET, 2 * HALF));
}

/** Normalizes case, spaces and hyphens; null if it cannot be a code. */
export function readUserCode(typed: string): string | null {
  const letters = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  return CODE.test(letters) ? inHalves(letters) : null;
}

function inHalves(letters: string): string {
  return `${letters.slice(0, HALF)}-${letters.slice(HALF)}`;
}
