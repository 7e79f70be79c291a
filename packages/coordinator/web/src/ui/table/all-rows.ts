/** Reads a list to its end for a file. */
import type { Page, Pages } from '../../api/pages.js';
import type { RowsFile } from '../text/csv.js';

/** Rows of a file: the browser holds their text in memory. */
export const MAX_SAVED_ROWS = 50_000;

/** Of one answer. */
const PAGE_ROWS = 500;

export interface AllRows<Row> {
  /** Those that are loaded, in order. */
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Where the others are; absent: there are none. Their keys are their ids. */
  readonly pages?: Pick<Pages<Row>, 'hasMore' | 'after' | 'next'>;
  /** Resolves to what makes a row of a file from one of the list; absent: they are the same. */
  readonly toSaved?: () => Promise<(row: Row) => object>;
}

interface Reading {
  readonly signal: AbortSignal;
  /** Told the number of rows read so far, after each page. */
  readonly onRows: (count: number) => void;
}

/**
 * Adds all rows of a list to a file, up to the limit, page by page. Returns whether these are all.
 * Throws if a page cannot be read, or after an abort.
 */
export async function readAll<Row extends object>(
  { rows, rowKey, pages, toSaved }: AllRows<Row>,
  file: RowsFile,
  { signal, onRows }: Reading,
): Promise<boolean> {
  const saved = (await toSaved?.()) ?? ((row) => row);
  let page: Page<Row> = { data: rows, has_more: pages?.hasMore ?? false };
  let after = pages?.after;
  for (let count = 0; ;) {
    const fitting = page.data.slice(0, MAX_SAVED_ROWS - count);
    file.add(fitting.map(saved));
    count += fitting.length;
    onRows(count);
    const isWhole = fitting.length === page.data.length && !page.has_more;
    if (isWhole || pages === undefined) return isWhole;
    if (count >= MAX_SAVED_ROWS || after === undefined) return false;
    signal.throwIfAborted();
    page = await pages.next(after, PAGE_ROWS);
    signal.throwIfAborted();
    after = page.next_after ?? page.data.map(rowKey).at(-1);
  }
}
