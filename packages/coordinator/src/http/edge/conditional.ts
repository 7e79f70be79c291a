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

/** What of a file is sent: a range, or all of it (null). */
type Selection =
  | { readonly kind: 'bytes'; readonly range: ByteRange | null }
  /** The answer is 304, or an error that has been set. */
  | { readonly kind: 'unchanged' | 'refused' };

/** Evaluates the preconditions and the range of a request, and sets the status of its answer. */
export function selectBytes(ctx: Context, file: Representation): Selection {
  const failed = failedPrecondition(ctx, file);
  if (failed !== null) return refuseCondition(ctx, failed);
  if (isUnchanged(ctx, file)) {
    ctx.status = 304;
    return { kind: 'unchanged' };
  }
  const range = readRange(ctx, file);
  if (range === 'outside') return refuseRange(ctx, file);
  ctx.status = range === null ? 200 : 206;
  return { kind: 'bytes', range };
}

/** The place of the selected bytes in the file; sets the headers that tell it. */
export function placeOf(ctx: Context, { bytes }: Representation, range: ByteRange | null) {
  const { start, end } = range ?? { start: 0, end: bytes };
  if (range !== null) ctx.set('Content-Range', `bytes ${start}-${end - 1}/${bytes}`);
  ctx.length = end - start;
  return { start, end };
}

/** The header whose precondition fails; null if none does. */
function failedPrecondition(
  ctx: Context,
  { etag, modifiedAt }: Representation,
): 'If-Match' | 'If-Unmodified-Since' | null {
  const match = ctx.get('If-Match');
  if (match !== '') return match === '*' || tagsIn(match).includes(etag) ? null : 'If-Match';
  // An invalid date is ignored: comparisons with it are false.
  const isNewer = modifiedAt > Date.parse(ctx.get('If-Unmodified-Since'));
  return isNewer ? 'If-Unmodified-Since' : null;
}

/** Whether the caller has it already. */
function isUnchanged(ctx: Context, { etag, modifiedAt }: Representation): boolean {
  const noneMatch = ctx.get('If-None-Match');
  if (noneMatch === '') return modifiedAt <= Date.parse(ctx.get('If-Modified-Since'));
  const tags = tagsIn(noneMatch).map((tag) => tag.replace(/^W\//, ''));
  return noneMatch === '*' || tags.includes(etag);
}

function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) => tag.trim());
}

/** Null for the whole file, also for several ranges at once; only GET has ranges. */
function readRange(ctx: Context, file: Representation): ByteRange | 'outside' | null {
  const header = ctx.get('Range');
  if (ctx.method !== 'GET' || !/^ *bytes=/.test(header) || !isRangeOfThis(ctx, file)) return null;
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
  return modifiedAt === Date.parse(ifRange);
}

/** 416: the requested range lies outside the file. */
function refuseRange(ctx: Context, { bytes }: Representation): Selection {
  ctx.set('Content-Range', `bytes */${bytes}`);
  const range = ctx.get('range');
  const message = `The range '${range}' lies outside the file, which has ${bytes} bytes.`;
  return refuse(ctx, 416, { message, param: 'Range' });
}

/** 412: the file is another than the one that the header names. */
function refuseCondition(ctx: Context, header: string): Selection {
  const message = `The file is not the one that ${header} names. Fetch it again.`;
  return refuse(ctx, 412, { message, param: header });
}

function refuse(
  ctx: Context,
  status: number,
  { message, param }: { readonly message: string; readonly param: string },
): Selection {
  ctx.status = status;
  ctx.body = new ApiError('invalid_value', message, { param }).body;
  return { kind: 'refused' };
}
