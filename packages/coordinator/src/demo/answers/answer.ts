/** How a demo machine answers a request: in pieces, at a realistic speed. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.js';

export interface Call {
  readonly endpoint: EndpointKey;
  readonly model: string;
  /** The request's JSON, or the fields of a form. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The files of a form, joined. */
  readonly files: Uint8Array;
  readonly tokensPerSecond: number;
  readonly random: Random;
  /** Aborted when the caller no longer wants the answer. */
  readonly signal: AbortSignal;
}

export type Piece =
  | { readonly kind: 'head'; readonly contentType: string }
  | { readonly kind: 'file'; readonly contentType: string }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'progress'; readonly percent: number };

/** Returns the token counts, or null if the request used no tokens. */
export type Answer = AsyncGenerator<Piece, TokenUsage | null>;

/** Makes the demo machine report a failure of its model server. */
export class DemoFailure extends Error {
  readonly code: ResetCode;

  constructor(code: ResetCode, message: string) {
    super(message);
    this.name = 'DemoFailure';
    this.code = code;
  }
}

/** Time between two progress messages. */
const STEP_MS = 1_000;

/** Waits for this duration and yields the progress. Rejects if the signal aborts. */
export async function* work(durationMs: number, signal: AbortSignal): AsyncGenerator<Piece> {
  const steps = Math.max(1, Math.round(durationMs / STEP_MS));
  for (let done = 1; done <= steps; done++) {
    await pause(durationMs / steps, undefined, { signal });
    yield { kind: 'progress', percent: Math.round((100 * done) / steps) };
  }
}

export function textOf(call: Call, field: string): string {
  const value = call.body[field];
  return typeof value === 'string' ? value : '';
}

/** A whole number from the body, within the limits; `otherwise` if there is none. */
export function countOf(call: Call, field: string, within: CountLimits): number {
  const value = Number(call.body[field] ?? within.otherwise);
  if (!Number.isInteger(value)) return within.otherwise;
  return Math.min(Math.max(value, within.least), within.most);
}

interface CountLimits {
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}
