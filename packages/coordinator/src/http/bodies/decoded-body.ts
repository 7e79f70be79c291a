/**
 * Request bodies as they were before their sender compressed them. Limits count what comes out, so
 * that a small body that grows without end is stopped as early as a large one.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { finished } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Context } from '../edge/context.js';

const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
const ACCEPTED = 'gzip, deflate, br';

export interface DecodedBody {
  readonly stream: Readable;
  /**
   * Decodes no further. What is still sent is read and dropped: a request that is destroyed would
   * block or reset its connection.
   */
  readonly stop: () => void;
}

/** Throws `unsupported_content_type` where the body comes in an encoding that is not known. */
export function decodedBody(ctx: Context): DecodedBody {
  const { req } = ctx;
  const encoding = ctx.get('content-encoding').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return { stream: req, stop: () => req.resume() };
  const createDecoder = DECODERS.get(encoding);
  if (createDecoder === undefined) throw unknownEncoding(encoding);
  const decoder = createDecoder();
  // Not `pipeline`, which destroys the request.
  req.pipe(decoder);
  const stopWatching = finished(req, { writable: false }, (error) => {
    if (error) decoder.destroy(error);
  });
  return {
    stream: decoder,
    stop: () => {
      stopWatching();
      req.unpipe(decoder);
      decoder.destroy();
      req.resume();
    },
  };
}

/** Null where something else failed: only the decoder's errors and the disk's have a number. */
export function decodingFault(error: unknown, ctx: Context): string | null {
  if (!(error instanceof Error) || !('errno' in error) || 'syscall' in error) return null;
  return `it is not ${ctx.get('content-encoding')}, as Content-Encoding says: ${error.message}`;
}

/** Characters of an unknown encoding that are told back. */
const MAX_SHOWN = 80;

function unknownEncoding(encoding: string): ApiError {
  const shown = JSON.stringify(encoding.slice(0, MAX_SHOWN));
  const message = `The Content-Encoding ${shown} is not supported. Send ${ACCEPTED}, or none.`;
  return new ApiError('unsupported_content_type', message, {
    param: 'Content-Encoding',
    headers: { 'Accept-Encoding': ACCEPTED },
  });
}
