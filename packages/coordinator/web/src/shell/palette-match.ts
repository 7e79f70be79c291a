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

const REQUEST_ID = /^req_[0-9A-Za-z]{20}$/;
/** Of a job or a batch, or the request that a run of a job is. */
const JOB_ID = /^[0-9A-HJKMNP-TV-Z]{26}(\.\d+)?$/;

/** What a whole id opens, also if it is in no list. */
export function byId(typed: string): readonly Entry[] {
  const id = typed.trim();
  const [, run] = JOB_ID.exec(id) ?? [null, null];
  const request = { id: `request ${id}`, icon: 'chart-column', text: id, kind: 'Request' };
  if (REQUEST_ID.test(id) || typeof run === 'string')
    return [{ ...request, opens: `/usage/${id}` }];
  if (!JOB_ID.test(id)) return [];
  return [
    { id: `job ${id}`, icon: 'list-checks', text: id, kind: 'Job', opens: `/jobs/${id}` },
    { id: `batch ${id}`, icon: 'layers', text: id, kind: 'Batch', opens: `/batches/${id}` },
  ];
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
