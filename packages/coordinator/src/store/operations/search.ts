/** Searches of lists: a part of a text, ignoring case. */

/**
 * A condition on a text of a row; true without a search. The parameters are of `searchTexts`.
 * `instr` has no wildcards. `lower` of a column changes only A to Z.
 */
export function isFound(text: string): string {
  const others = FURTHER.map((name) => {
    return `or (cast(@${name} as text) is not null and instr(lower(${text}), @${name}) > 0)`;
  });
  return `(cast(@search as text) is null or instr(lower(${text}), @search) > 0
    ${others.join('\n    ')})`;
}

/** The texts of a row that are searched, as one. No search has a line feed. */
export function searched(...columns: readonly string[]): string {
  return columns.map((column) => `coalesce(${column}, '')`).join(` || '\n' || `);
}

/** Most searches have only A to Z, and one way to be written. */
const FURTHER = ['search2', 'search3', 'search4'] as const;

/** Null: not searched. */
export type SearchTexts = Readonly<Record<'search' | (typeof FURTHER)[number], string | null>>;

/**
 * What may be written in a row: A to Z in small letters, the others as they were typed, small, and
 * capital, at the beginning or everywhere.
 */
export function searchTexts(search: string | null): SearchTexts {
  const texts = search === null ? [] : waysToWrite(search);
  const [first = null, second = null, third = null, fourth = null] = texts;
  return { search: first, search2: second, search3: third, search4: fourth };
}

function waysToWrite(search: string): string[] {
  const small = search.toLowerCase();
  const [first = '', ...rest] = small;
  const written = [search, small, first.toUpperCase() + rest.join(''), search.toUpperCase()];
  return [...new Set(written.map(withSmallAscii))];
}

export function withSmallAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
