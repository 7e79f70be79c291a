/** What a demo machine does with one request: it answers in pieces, at a believable pace. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.js';

export interface Call {
  readonly endpoint: EndpointKey;
  readonly model: string;
  /** The JSON of the request; of a form its fields. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The files of a form, one behind the other. */
  readonly files: Uint8Array;
  readonly tokensPerSecond: number;
  readonly random: Random;
  /** Nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

export type Piece =
  | { readonly kind: 'head'; readonly contentType: string }
  | { readonly kind: 'file'; readonly contentType: string }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'progress'; readonly percent: number };

/** Ends with the tokens that it took, where it took any. */
export type Answer = AsyncGenerator<Piece, TokenUsage | null>;

/** The machine says that its model server failed. */
export class DemoFailure extends Error {
  readonly code: ResetCode;

  constructor(code: ResetCode, message: string) {
    super(message);
    this.name = 'DemoFailure';
    this.code = code;
  }
}

/** How often progress is told. */
const STEP_MS = 1_000;

/** Waits so long, and tells how far it is. Rejects where the signal comes first. */
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

/** A whole number of the body within limits; `otherwise` where there is none. */
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
