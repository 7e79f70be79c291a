/** JSON bodies: held in memory, up to their limit, within one budget for all callers. */
import { ApiError } from '@inference-gateway/shared/errors';
import { namesFile, parseFileBatch } from '@inference-gateway/shared/openai/batch-files';
import type { ParsedFileBatch } from '@inference-gateway/shared/openai/batch-files';
import type { RequestLimits } from '@inference-gateway/shared/openai/requests';
import { JsonScan, MAX_SMALL_BYTES, MAX_SMALL_VALUES } from '@inference-gateway/shared/json/scan';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { addressNetwork } from '../../core/access/address-group.js';
import type { Share } from '../../core/usage/budget.js';
import { Budget } from '../../core/usage/budget.js';
import { callerOf, onceClosed } from '../edge/context.js';
import type { Context } from '../edge/context.js';
import { countPrompt, judgeBatch, judgeRequest, parseJson } from './judge-body.js';
import type { CountedPrompt, Judged, JudgedBatch } from './judge-body.js';
import type { JudgedRequest, Question } from './judge-body.js';
import type { LargeBodies } from './large-bodies.js';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';

type RequestAsked = Omit<Extract<Question, { kind: 'request' }>, 'kind' | 'memberId'>;

export class JsonBodies {
  readonly #maxBytes: number;
  readonly #budget: Budget;
  readonly #large: LargeBodies | null;

  /**
   * `budget`: the memory budget for bodies and answers, shared with jobs; `large`: the thread for
   * large bodies, null if there are none.
   */
  constructor(
    { maxJsonBytes }: { readonly maxJsonBytes: number },
    { budget, large }: { readonly budget: Budget; readonly large: LargeBodies | null },
  ) {
    this.#maxBytes = maxJsonBytes;
    this.#budget = budget;
    this.#large = large;
  }

  /**
   * Reads and parses a body of at most some kilobytes, whose memory is charged to `holder`: the
   * authenticated member or provider, else the sender's network.
   */
  async read(ctx: Context, holder = holderOf(ctx)): Promise<unknown> {
    return parseJson((await this.#collect(ctx, holder)).bytes);
  }

  /** Reads and checks the request. Its memory is held until the answer has ended. */
  async readRequest(ctx: Context, asked: RequestAsked): Promise<Judged<JudgedRequest>> {
    const { bytes, values } = await this.#collect(ctx);
    const question = { kind: 'request', ...asked, memberId: callerOf(ctx).memberId } as const;
    if (this.#large !== null && isLarge(bytes, values)) {
      return this.#large.judgeRequest(bytes, question);
    }
    return judgeRequest(parseJson(bytes), question);
  }

  async readBatch(ctx: Context, limits: RequestLimits): Promise<JudgedBatch | ParsedFileBatch> {
    const { bytes, values } = await this.#collect(ctx);
    const question = { kind: 'batch', limits } as const;
    if (this.#large !== null && isLarge(bytes, values)) {
      return this.#large.judgeBatch(bytes, callerOf(ctx).memberId, question);
    }
    const value = parseJson(bytes);
    return namesFile(value) ? parseFileBatch(value) : judgeBatch(value, question);
  }

  /** Reads a prompt of `/messages/count_tokens`. */
  async countPrompt(ctx: Context): Promise<CountedPrompt> {
    const { bytes, values } = await this.#collect(ctx);
    if (this.#large !== null && isLarge(bytes, values)) {
      return this.#large.countPrompt(bytes, callerOf(ctx).memberId);
    }
    return countPrompt(parseJson(bytes));
  }

  /** Memory for an answer that is held; released when it has ended. */
  shareOf(ctx: Context, holder = holderOf(ctx)): Share {
    const share = this.#budget.open(holder);
    onceClosed(ctx, () => share.release());
    return share;
  }

  #collect(
    ctx: Context,
    holder?: string,
  ): Promise<{ readonly bytes: Buffer; readonly values: number }> {
    requireJson(ctx);
    const announced = Number(ctx.get('content-length') || 0);
    if (announced > this.#maxBytes) throw this.#tooLarge();
    const body = new GatheredBytes();
    const scan = new JsonScan();
    const { stream, stop } = decodedBody(ctx);
    const share = this.shareOf(ctx, holder);
    const take = (chunk: Buffer): void => {
      body.append(chunk);
      if (body.length > this.#maxBytes) throw this.#tooLarge();
      share.add(chunk.length);
      refuse(scan.add(chunk));
    };
    return readPieces(stream, take)
      .then(() => {
        refuse(scan.end());
        return { bytes: body.bytes, values: scan.count };
      })
      .catch((error: unknown) => {
        // The connection of a refused caller may stay open, and must not hold released memory.
        share.release();
        body.clear();
        stop();
        if (error instanceof ApiError) throw error;
        const fault = decodingFault(error, ctx);
        const why = fault === null ? 'ended early. Send it again' : `is unreadable: ${fault}`;
        throw new ApiError('invalid_json', `The request body ${why}.`);
      });
  }

  #tooLarge(): ApiError {
    const limitMiB = this.#maxBytes / 1024 / 1024;
    return new ApiError(
      'body_too_large',
      `The JSON body is larger than ${limitMiB} MiB. Send less.`,
    );
  }
}

/** Before parsing: time and memory depend on the number of values, not on bytes. */
function refuse(fault: string | null): void {
  if (fault === null) return;
  throw new ApiError('invalid_json', `The request body is refused: ${fault}. Send less at once.`);
}

/** Unauthenticated senders are distinguished by network, so that one does not block all others. */
function holderOf({ state: { caller, ip } }: Context): string {
  return caller?.memberId ?? addressNetwork(ip);
}

/**
 * Passes each piece on as it comes, until the end. Rejects with what `take` throws, or with the
 * stream's error, and then leaves the stream as it is: destroying it would block or reset the
 * connection. Not by an iterator, which makes several promises for each piece.
 */
function readPieces(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      body.off('data', read).off('end', finish).off('error', fail).off('close', fail);
    };
    const fail = (error?: unknown): void => {
      leave();
      reject(error instanceof Error ? error : new Error('closed before its end'));
    };
    const finish = (): void => {
      leave();
      resolve();
    };
    const read = (piece: Buffer): void => {
      try {
        take(piece);
      } catch (error) {
        fail(error);
      }
    };
    // A stream that has closed already reports nothing any more.
    if (body.destroyed) return fail();
    body.on('data', read).on('end', finish).on('error', fail).on('close', fail);
    return undefined;
  });
}

/** `application/json`, with or without parameters; a body without a type is read as JSON. */
function requireJson(ctx: Context): void {
  const sent = ctx.get('content-type');
  if (sent === 'application/json') return;
  const type = sent.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type.endsWith('+json')) return;
  const message = `The content type '${type}' is not supported here. Send application/json.`;
  throw new ApiError('unsupported_content_type', message);
}

function isLarge(bytes: Buffer, values: number): boolean {
  return bytes.length > MAX_SMALL_BYTES || values > MAX_SMALL_VALUES;
}

/** Limit of bodies outside of the API: a few fields each. */
const MAX_SMALL_BODY_BYTES = 64 * 1024;

const MAX_SMALL_HELD_BYTES = 4 * 1024 * 1024;

/** Per member, provider or unauthenticated network, so that slow senders leave room for others. */
const MAX_SMALL_HELD_BY_ONE_BYTES = MAX_SMALL_HELD_BYTES / 4;

/**
 * Budgets separate from the callers' memory, so that calls cannot block changes, and
 * unauthenticated senders can block neither.
 */
export interface SmallBodies {
  /** Of authenticated members and machines. */
  readonly known: JsonBodies;
  /** Of unauthenticated senders: log-ins, invites, new machines. */
  readonly strangers: JsonBodies;
}

export function smallBodies(): SmallBodies {
  return { known: openSmall(), strangers: openSmall() };
}

function openSmall(): JsonBodies {
  const limits = { totalBytes: MAX_SMALL_HELD_BYTES, memberBytes: MAX_SMALL_HELD_BY_ONE_BYTES };
  const parts = { budget: new Budget(limits), large: null };
  return new JsonBodies({ maxJsonBytes: MAX_SMALL_BODY_BYTES }, parts);
}

// Decompresses request bodies. Limits count decompressed bytes, so that a small body that grows
// without end is stopped as early as a large one.

const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

const ACCEPTED = 'gzip, deflate, br';

interface DecodedBody {
  readonly stream: Readable;
  /**
   * Stops decoding. The rest is read and dropped: destroying the request would block or reset its
   * connection.
   */
  readonly stop: () => void;
}

/** Throws `unsupported_content_type` if the body has an unknown encoding. */
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

/** Null for other errors: only those of the decoder and the disk have a number. */
export function decodingFault(error: unknown, ctx: Context): string | null {
  if (!(error instanceof Error) || !('errno' in error) || 'syscall' in error) return null;
  return `it is not ${ctx.get('content-encoding')}, as Content-Encoding says: ${error.message}`;
}

/** Characters of an unknown encoding that are repeated in the error. */
const MAX_SHOWN = 80;

function unknownEncoding(encoding: string): ApiError {
  const shown = JSON.stringify(encoding.slice(0, MAX_SHOWN));
  const message = `The Content-Encoding ${shown} is not supported. Send ${ACCEPTED}, or none.`;
  return new ApiError('unsupported_content_type', message, {
    param: 'Content-Encoding',
    headers: { 'Accept-Encoding': ACCEPTED },
  });
}
