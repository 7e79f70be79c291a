/**
 * Characters that nobody sees, and that a terminal takes for keys: pasted, some delete what stands
 * before them. The names of models come from others, and must stay within their quotes.
 */

/** Control characters less the end of a line, and those that turn the direction of a text. */
const HIDDEN = /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');
/** In double quotes, a shell puts an earlier line in the place of the last of them. */
const NOT_IN_SHELLS = new RegExp(`${HIDDEN.source}|!`, 'gu');

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/** A text as JSON, Python and JavaScript write it, with nothing hidden in it. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(EACH_HIDDEN, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A word of a POSIX shell, which has no escapes of its own: `printf` writes what is hidden. */
export function printed(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''");
  return `"$(printf %b '${escaped.replaceAll(NOT_IN_SHELLS, octal)}')"`;
}

function octal(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
}
