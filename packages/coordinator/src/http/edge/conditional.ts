/** Conditional and range requests, RFC 9110, sections 13 and 14. */
import { ApiError } from '@inference-gateway/shared/errors';
import parseRange from 'range-parser';
import type { ByteRange } from '../../assets/byte-store.js';
import type { Context } from './context.js';

/** A file as a request may name it. */
export interface Representation {
  readonly bytes: number;
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Unix ms, in whole seconds, as headers have them. */
  readonly modifiedAt: number;
}

/** Whether a precondition of the request fails: the answer is 412. */
export function isAnother(ctx: Context, { etag, modifiedAt }: Representation): boolean {
  const match = ctx.get('If-Match');
  if (match !== '') return match !== '*' && !tagsIn(match).includes(etag);
  // An invalid date is ignored: comparisons with it are false.
  return modifiedAt > Date.parse(ctx.get('If-Unmodified-Since'));
}

/** Whether the caller has it already: the answer is 304. */
export function isUnchanged(ctx: Context, { etag, modifiedAt }: Representation): boolean {
  const noneMatch = ctx.get('If-None-Match');
  if (noneMatch === '') return modifiedAt <= Date.parse(ctx.get('If-Modified-Since'));
  const tags = tagsIn(noneMatch).map((tag) => tag.replace(/^W\//, ''));
  return noneMatch === '*' || tags.includes(etag);
}

function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) => tag.trim());
}

/** Null for the whole file, also for several ranges at once. */
export function readRange(ctx: Context, file: Representation): ByteRange | 'outside' | null {
  const header = ctx.get('Range');
  if (!/^ *bytes=/.test(header) || !isRangeOfThis(ctx, file)) return null;
  // The last 5,000 bytes of a file of 1,000 are the whole file.
  const suffix = /^ *bytes=-(\d+)$/.exec(header)?.[1];
  if (suffix !== undefined && Number(suffix) > file.bytes && file.bytes > 0) {
    return { start: 0, end: file.bytes };
  }
  const ranges = parseRange(file.bytes, header, { combine: true });
  if (ranges === -1) return 'outside';
  const [first] = ranges === -2 || ranges.length > 1 ? [] : ranges;
  return first === undefined ? null : { start: first.start, end: first.end + 1 };
}

/** A range is returned only of the version of which the caller has the rest. */
function isRangeOfThis(ctx: Context, { etag, modifiedAt }: Representation): boolean {
  const ifRange = ctx.get('If-Range');
  if (ifRange === '') return true;
  if (ifRange.includes('"')) return ifRange === etag;
  return modifiedAt <= Date.parse(ifRange);
}

/** 412, or 416 if the requested range lies outside. */
export function refuse(ctx: Context, status: 412 | 416, { bytes }: Representation): void {
  ctx.status = status;
  const header = status === 416 ? 'Range' : 'If-Match';
  if (status === 416) ctx.set('Content-Range', `bytes */${bytes}`);
  const message =
    status === 416
      ? `The range '${ctx.get('range')}' lies outside the file, which has ${bytes} bytes.`
      : 'The file is not the one that If-Match or If-Unmodified-Since names. Fetch it again.';
  ctx.body = new ApiError('invalid_value', message, { param: header }).body;
}
