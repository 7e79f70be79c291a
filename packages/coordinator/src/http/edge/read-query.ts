/** Query parameters of every list. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Context } from './context.js';

const DEFAULT_LIMIT = 50;

export interface Page {
  readonly limit: number;
  /** The id of the last one seen; null: from the newest. */
  readonly after: string | null;
}

/** Throws `invalid_value` if `limit` is not from 1 to `mostLimit`: it is never clamped. */
export function readPage(ctx: Context, mostLimit: number): Page {
  const after = queryText(ctx, 'after');
  const written = queryText(ctx, 'limit');
  if (written === null) return { limit: DEFAULT_LIMIT, after };
  const limit = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (limit >= 1 && limit <= mostLimit) return { limit, after };
  const message = `limit is '${written}': it must be a whole number from 1 to ${mostLimit}.`;
  throw new ApiError('invalid_value', message, { param: 'limit' });
}

/** Characters of a search. */
const MAX_SEARCH_CHARACTERS = 100;

/** Null if it is missing or blank. Throws `invalid_value` if it is too long. */
export function readSearch(ctx: Context): string | null {
  const written = queryText(ctx, 'search')?.replaceAll(/\s+/gu, ' ').trim() ?? '';
  if (written.length <= MAX_SEARCH_CHARACTERS) return written === '' ? null : written;
  const message =
    `search has ${written.length} characters: it may have ${MAX_SEARCH_CHARACTERS}. ` +
    'Search for a part of it.';
  throw new ApiError('invalid_value', message, { param: 'search' });
}

/** Rows that one request searches, from the newest on: a member may have a million. */
const SEARCHED_ROWS = 10_000;
/** Rows that one read of the store searches: calls of others get in between. */
const SEARCHED_AT_ONCE = 2_500;

interface Search<Row> {
  /** The last of so many rows after one; null: there are not so many. */
  readonly endOf: (after: string | null, rows: number) => Promise<string | null>;
  readonly read: (page: Page & { readonly until: string | null }) => Promise<readonly Row[]>;
}

export interface Found<Row> {
  readonly rows: readonly Row[];
  /** The last row that was searched, if there are others; else null. */
  readonly next: string | null;
}

export async function searchRows<Row>(
  { limit, after }: Page,
  { endOf, read }: Search<Row>,
): Promise<Found<Row>> {
  const rows: Row[] = [];
  let last = after;
  for (let left = SEARCHED_ROWS; left > 0; left -= SEARCHED_AT_ONCE) {
    const until = await endOf(last, SEARCHED_AT_ONCE);
    rows.push(...(await read({ limit: limit - rows.length, after: last, until })));
    if (until === null || rows.length >= limit) return { rows, next: null };
    last = until;
  }
  return { rows, next: last };
}

/** Null if it is missing; of several, the last. */
export function queryText(ctx: Context, name: string): string | null {
  const value = ctx.query[name];
  return (typeof value === 'string' ? value : value?.at(-1)) ?? null;
}

/** The form of every list: `rows` has one more than requested if there are more. */
export function listOf<Row, Resource>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Resource,
) {
  return foundOf({ rows, next: null }, limit, present);
}

/** The same of a search, which may have ended before the list does: then it names `next_after`. */
export function foundOf<Row, Resource>(
  { rows, next }: Found<Row>,
  limit: number,
  present: (row: Row) => Resource,
) {
  const data = rows.slice(0, limit).map(present);
  const hasMore = rows.length > limit || next !== null;
  const list = { object: 'list', data, has_more: hasMore } as const;
  return next === null ? list : { ...list, next_after: next };
}
