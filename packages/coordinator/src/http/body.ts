/** JSON bodies: held whole, up to their limit, within one budget of memory for all callers. */
import { ApiError } from '@inference-gateway/shared/errors';
import { MAX_ANSWER_BYTES } from '../core/held-document.js';
import { Budget } from '../core/budget.js';
import type { Share } from '../core/budget.js';
import type { Context } from './context.js';
import { GatheredBytes } from '@inference-gateway/shared/gathered-bytes';

export interface BodyLimits {
  readonly maxJsonBytes: number;
  /**
   * Bytes of JSON bodies and answers held at once; a member may hold half of it, and always the
   * largest body together with the largest answer to it.
   */
  readonly maxBodyMemoryBytes: number;
}

export class JsonBodies {
  readonly #limits: BodyLimits;
  readonly #budget: Budget;

  constructor(limits: BodyLimits) {
    const { maxJsonBytes, maxBodyMemoryBytes } = limits;
    this.#limits = limits;
    this.#budget = new Budget({
      totalBytes: maxBodyMemoryBytes,
      memberBytes: Math.max(maxBodyMemoryBytes / 2, maxJsonBytes + MAX_ANSWER_BYTES),
    });
  }

  /** Reads and parses the body. Its memory counts as held until the answer has ended. */
  async read(ctx: Context): Promise<unknown> {
    requireJson(ctx);
    const announced = Number(ctx.get('content-length') || 0);
    if (announced > this.#limits.maxJsonBytes) throw this.#tooLarge();
    return parseJson(await this.#collect(ctx));
  }

  /** For an answer that is held whole; given back when it has ended. */
  shareOf(ctx: Context): Share {
    const share = this.#budget.open(ctx.state.caller?.memberId ?? NOBODY);
    ctx.res.once('close', () => share.release());
    return share;
  }

  async #collect(ctx: Context): Promise<Buffer> {
    const body = new GatheredBytes();
    const share = this.shareOf(ctx);
    try {
      for await (const chunk of piecesOf(ctx)) {
        body.append(chunk);
        if (body.length > this.#limits.maxJsonBytes) throw this.#tooLarge();
        share.add(chunk.length);
      }
    } catch (error) {
      // A refused caller's connection may linger, and must not hold memory that is free again.
      share.release();
      body.clear();
      ctx.req.resume();
      if (error instanceof ApiError) throw error;
      throw new ApiError('invalid_json', 'The request body ended early. Send it again.');
    }
    return body.bytes;
  }

  #tooLarge(): ApiError {
    const limitMiB = this.#limits.maxJsonBytes / 1024 / 1024;
    return new ApiError(
      'body_too_large',
      `The JSON body is larger than ${limitMiB} MiB. Send less.`,
    );
  }
}

/** Whoever enrols an agent is no member yet. */
const NOBODY = '';

/** A refused body is read on and dropped: destroyed, it would block or reset the connection. */
function piecesOf(ctx: Context): AsyncIterable<Buffer> {
  return ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** `application/json`, with or without parameters; what is labelled as nothing is read as JSON. */
function requireJson(ctx: Context): void {
  const type = ctx.get('content-type').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type.endsWith('+json')) return;
  const message = `The content type '${type}' is not supported here. Send application/json.`;
  throw new ApiError('unsupported_content_type', message);
}

function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = text.trim() === '' ? 'it is empty' : (cause as Error).message;
    throw new ApiError('invalid_json', `The request body is not valid JSON: ${reason}.`);
  }
}

/** What was parsed, for the agent. `JSON.parse` reads deeper nesting than can be written again. */
export function writeJson(body: object): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ApiError('invalid_json', 'The request body is nested too deeply. Flatten it.');
  }
}
