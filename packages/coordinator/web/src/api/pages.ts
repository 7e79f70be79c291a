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
  readonly refresh: () => Promise<void>;
}

/**
 * `url` contains the filters, without `after`. Rows that move down from the first page stay,
 * because loading a further page keeps all rows shown until then, by id.
 */
export function usePages<T extends { readonly id: string }>(
  url: string,
  options: SnapshotOptions = {},
): Pages<T> {
  const first = useSnapshot<Page<T>>(url, options);
  const glue = url.includes('?') ? '&' : '?';
  return useFurther(url, first, (after) => requestJson(`${url}${glue}after=${after}`));
}

/** The same for a list whose pages are requested in another way; `key` changes with its filters. */
export function useFurther<T extends { readonly id: string }>(
  key: string,
  first: Snapshot<Page<T>>,
  next: (after: string) => Promise<Page<T>>,
): Pages<T> {
  const [loaded, setLoaded] = useState<Loaded<T> | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  // The answer to a request with earlier filters may arrive after the filters have changed.
  const more = loaded?.key === key ? loaded.page : null;
  const last = more ?? first.data;
  const rows = first.data === undefined ? undefined : join(first.data.data, more?.data ?? []);
  return {
    data: rows,
    hasMore: last?.has_more ?? false,
    isUnsearched: last?.next_after !== undefined,
    isLoadingMore,
    fault: first.fault ?? fault,
    staleSince: first.staleSince,
    refresh: () => first.refresh(),
    async loadMore() {
      const after = last?.next_after ?? rows?.at(-1)?.id;
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
