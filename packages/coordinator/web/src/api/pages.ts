/** Paged lists: the first page is refreshed, further ones are added below it. */
import { useState } from 'preact/hooks';
import { asFault } from './fault.js';
import type { Fault } from './fault.js';
import { requestJson } from './request.js';
import { useSnapshot } from './snapshot.js';
import type { Snapshot, SnapshotOptions } from './snapshot.js';

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  /** Of a search that has ended before the list does: the last row that it has read. */
  readonly next_after?: string;
}

/** The page after this id, of the list's usual length or of this many rows. */
type NextPage<T> = (after: string, rows?: number) => Promise<Page<T>>;

export interface Pages<T> {
  /** All rows loaded so far; undefined until the first answer. */
  readonly data: readonly T[] | undefined;
  readonly hasMore: boolean;
  /** There are rows that were not searched. */
  readonly isUnsearched: boolean;
  readonly isLoadingMore: boolean;
  readonly fault: Fault | null;
  readonly staleSince: number | null;
  readonly loadMore: () => Promise<void>;
  /** Where the next page begins; undefined: there are no rows. */
  readonly after: string | undefined;
  /** Reads a page, with the filters of the list, that is not shown. */
  readonly next: NextPage<T>;
  readonly refresh: () => Promise<void>;
}

/** Rows of the longest page of most lists. */
const MOST_ROWS = 500;

interface PagesOptions extends SnapshotOptions {
  /** Rows of the longest page of this list. */
  readonly mostRows?: number;
}

/**
 * `url` contains the filters and `limit`, without `after`. Rows that move down from the first page
 * stay, because loading a further page keeps all rows shown until then, by id.
 */
export function usePages<T extends { readonly id: string }>(
  url: string,
  { mostRows = MOST_ROWS, ...options }: PagesOptions = {},
): Pages<T> {
  const first = useSnapshot<Page<T>>(url, options);
  return useFurther(url, first, (after, rows) => {
    const [path = '', query] = url.split('?');
    const asked = new URLSearchParams(query);
    asked.set('after', after);
    if (rows !== undefined) asked.set('limit', String(Math.min(rows, mostRows)));
    return requestJson(`${path}?${asked}`);
  });
}

/** The same for a list whose pages are requested in another way; `key` changes with its filters. */
export function useFurther<T extends { readonly id: string }>(
  key: string,
  first: Snapshot<Page<T>>,
  next: NextPage<T>,
): Pages<T> {
  const [loaded, setLoaded] = useState<Loaded<T> | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  // The answer to a request with earlier filters may arrive after the filters have changed.
  const more = loaded?.key === key ? loaded.page : null;
  const last = more ?? first.data;
  const rows = first.data === undefined ? undefined : join(first.data.data, more?.data ?? []);
  const after = last?.next_after ?? rows?.at(-1)?.id;
  return {
    data: rows,
    hasMore: last?.has_more ?? false,
    isUnsearched: last?.next_after !== undefined,
    isLoadingMore,
    fault: first.fault ?? fault,
    staleSince: first.staleSince,
    refresh: () => first.refresh(),
    after,
    next,
    async loadMore() {
      if (rows === undefined || after === undefined || isLoadingMore) return;
      setLoadingMore(true);
      try {
        const page = await next(after);
        setLoaded({ key, page: { ...page, data: join(rows, page.data) } });
        setFault(null);
      } catch (thrown) {
        setFault(asFault(thrown));
      } finally {
        setLoadingMore(false);
      }
    },
  };
}

interface Loaded<T> {
  readonly key: string;
  readonly page: Page<T>;
}

function join<T extends { readonly id: string }>(
  first: readonly T[],
  more: readonly T[],
): readonly T[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...more.filter(({ id }) => !known.has(id))];
}
