/** Jobs of the load generator, and their results. */
import type { Percentiles } from '../statistics.js';

export const BENCH_MODEL = 'bench-model';

export interface Target {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The API of streamed chats; absent: chat completions. */
  readonly api?: 'responses' | 'messages';
}

/** What a closed load sends. */
export type Call =
  | { readonly kind: 'chat' }
  /** The same as an asynchronous job: its answer comes once it is safe on the disk. */
  | { readonly kind: 'submission' }
  /** A WAV file of so many bytes to be transcribed. */
  | { readonly kind: 'upload'; readonly fileBytes: number }
  /** One image as base64. */
  | { readonly kind: 'image' }
  /** Vectors of a list of texts, as numbers. */
  | { readonly kind: 'vectors' };

/** Of the mock's only image. */
export const IMAGE_BYTES = 4 * 1024 * 1024;

/** The mock's answer to every list of texts. */
export const VECTORS = { texts: 1_000, dimensions: 1_024 };
/** Of a number with its comma, as the mock writes each. */
export const NUMBER_BYTES = 12;

export type Job =
  /** As many requests as the connections carry, each sending its next when its answer is there. */
  | {
      readonly kind: 'closed';
      readonly target: Target;
      readonly call: Call;
      readonly connections: number;
      readonly durationMs: number;
      readonly maxRequests: number;
    }
  /** A steady rate, regardless of the answers; latency is measured from the sending. */
  | {
      readonly kind: 'steady';
      readonly target: Target;
      readonly perSecond: number;
      readonly durationMs: number;
    }
  /**
   * Callers that arrive at this rate, each at a random moment, regardless of the answers. Measures
   * the time that is added to the home's own, from the arrival of the caller.
   */
  | {
      readonly kind: 'open';
      readonly target: Target;
      readonly perSecond: number;
      readonly durationMs: number;
      /** Each call is of one of these; a model that is here twice is called twice as often. */
      readonly models: readonly string[];
      readonly seed: number;
    }
  | {
      readonly kind: 'streams';
      readonly target: Target;
      readonly streams: number;
      readonly chunks: number;
      readonly intervalMs: number;
    }
  /** Asynchronous jobs until the last of them is PROCESSED. */
  | {
      readonly kind: 'jobs';
      readonly target: Target;
      readonly jobs: number;
      readonly connections: number;
    }
  /** One batch until it is DONE. */
  | { readonly kind: 'batch'; readonly target: Target; readonly items: number }
  /** A file of so many requests, uploaded before the time counts, until its batch is completed. */
  | { readonly kind: 'file'; readonly target: Target; readonly lines: number }
  /** One job after the other; the latency is that until the model server has the request. */
  | { readonly kind: 'starts'; readonly target: Target; readonly times: number }
  /** Tabs of the dashboard, half on Queue and half on Home, each with one of these sessions. */
  | {
      readonly kind: 'tabs';
      readonly target: Target;
      readonly cookies: readonly string[];
      readonly tabs: number;
      /** From the first tab on: what happens before is not counted. */
      readonly warmMs: number;
      readonly durationMs: number;
    }
  /** One request after the other; they take turns, so that each path has the same weather. */
  | {
      readonly kind: 'reads';
      readonly target: Target;
      readonly paths: readonly string[];
    };

export interface RequestsResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latencyMs: Percentiles;
}

export interface OpenResult extends RequestsResult {
  /** From the moment at which a request was due to its sending: the generator's own part. */
  readonly lateMs: Percentiles;
  /** Calls without an answer, by their outcome. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface TabsResult extends RequestsResult {
  /** Answered 304. */
  readonly notModified: number;
  readonly hints: number;
  /** Of the bodies. */
  readonly bytes: number;
  /** Questions without an answer, and sockets that broke, since the beginning. */
  readonly failed: number;
}

export interface StreamsResult {
  readonly chunks: number;
  /** While every stream was under way; in a flood, from first to last. */
  readonly chunksPerSecond: number;
  /** From the chunk's stamp to its arrival. */
  readonly relayMs: Percentiles;
  /** Between two chunks of a stream as they arrive. */
  readonly gapMs: Percentiles;
  readonly firstTokenMs: Percentiles;
}

export type JobResult<J extends Job> = J extends { kind: 'streams' }
  ? StreamsResult
  : J extends { kind: 'open' }
    ? OpenResult
    : J extends { kind: 'tabs' }
      ? TabsResult
      : RequestsResult;

/** What a stream's message asks of the mock: proxies drop request fields that they do not know. */
export interface StreamWish {
  readonly chunks: number;
  readonly intervalMs: number;
}

/** A message to which the mock answers with the time at which it had the request. */
export const WHEN = 'When did you hear this?';
