/** What the command palette finds. */

export interface Entry {
  readonly id: string;
  readonly icon: string;
  readonly text: string;
  /** Further words by which it is found. */
  readonly words?: string;
  /** Shown beside it: "Screen". It is found by this word, too. */
  readonly kind: string;
  /** An address of the page, or an action. */
  readonly opens: string | (() => void);
}

/**
 * The entries that have every typed word, best first: the text begins with it, then one of its
 * words does, then it is anywhere in it, then another word begins with it. Entries that fit equally
 * well keep their order.
 */
export function matching(entries: readonly Entry[], typed: string): readonly Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

const NOT_FOUND = 4;

/** The worst rank of the words. */
function rankOf({ text, words = '', kind }: Entry, typed: readonly string[]): number {
  const own = text.toLowerCase();
  const more = partsOf(`${words} ${kind}`.toLowerCase());
  return Math.max(...typed.map((word) => rankOfWord(word, own, more)));
}

function rankOfWord(word: string, own: string, more: readonly string[]): number {
  if (own.startsWith(word)) return 0;
  if (partsOf(own).some((part) => part.startsWith(word))) return 1;
  if (own.includes(word)) return 2;
  return more.some((part) => part.startsWith(word)) ? 3 : NOT_FOUND;
}

function partsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}]+/u);
}
