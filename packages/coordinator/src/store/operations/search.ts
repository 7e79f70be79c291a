/** Searches of lists: a part of a text, ignoring case. */

/**
 * A condition on a text of a row; true without a search. The parameter is of `searchTexts`. `instr`
 * has no wildcards. `lower` of a column changes only A to Z.
 */
export function isFound(text: string): string {
  return `(cast(@search as text) is null or exists (
    select 1 from json_each(@search) as part where instr(lower(${text}), part.value) > 0))`;
}

/** The texts of a row that are searched, as one. No search has a line feed. */
export function searched(...columns: readonly string[]): string {
  return columns.map((column) => `coalesce(${column}, '')`).join(` || '\n' || `);
}

/**
 * A JSON array of what may be written in a row: A to Z in small letters, the others as they were
 * typed, small, and capital, at the beginning or everywhere. Null without a search.
 */
export function searchTexts(search: string | null): string | null {
  if (search === null) return null;
  const small = search.toLowerCase();
  const [first = '', ...rest] = small;
  const written = [search, small, first.toUpperCase() + rest.join(''), search.toUpperCase()];
  return JSON.stringify([...new Set(written.map(withSmallAscii))]);
}

export function withSmallAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
