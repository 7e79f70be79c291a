/**
 * Invisible characters, which a terminal may interpret as keys: pasted, some delete the text before
 * them. Names of models come from others, and must not break out of their quotes.
 */

/** Control characters except the newline, and those that change the direction of a text. */
const HIDDEN = /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');
/** Also `!`: in double quotes, a shell replaces it with an earlier command line. */
const NOT_IN_SHELLS = new RegExp(`${HIDDEN.source}|!`, 'gu');

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/** A string literal for JSON, Python and JavaScript, with hidden characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(EACH_HIDDEN, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * A word of a POSIX shell, which has no escapes of its own: `printf` produces hidden characters.
 */
export function printed(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''");
  return `"$(printf %b '${escaped.replaceAll(NOT_IN_SHELLS, octal)}')"`;
}

function octal(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
}
