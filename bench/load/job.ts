/** What the load generator is asked to do, and what it answers. */
import type { Percentiles } from '../statistics.js';

export const BENCH_MODEL = 'bench-model';

export interface Target {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Job =
  /** As many requests as the connections carry, each sending its next when its answer is there. */
  | {
      readonly kind: 'closed';
      readonly target: Target;
      readonly connections: number;
      readonly durationMs: number;
      readonly maxRequests: number;
    }
  /** A steady rate, whatever the answers do. */
  | {
      readonly kind: 'steady';
      readonly target: Target;
      readonly perSecond: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'streams';
      readonly target: Target;
      readonly streams: number;
      readonly chunks: number;
      readonly intervalMs: number;
    };

export interface RequestsResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latencyMs: Percentiles;
}

export interface StreamsResult {
  readonly chunks: number;
  /** While every stream was under way; in a flood, from first to last. */
  readonly chunksPerSecond: number;
  /** From the chunk's stamp to its arrival. */
  readonly relayMs: Percentiles;
  readonly firstTokenMs: Percentiles;
}

export type JobResult<J extends Job> = J extends { kind: 'streams' }
  ? StreamsResult
  : RequestsResult;

/** What a stream's message asks of the mock: proxies drop request fields that they do not know. */
export interface StreamWish {
  readonly chunks: number;
  readonly intervalMs: number;
}

export function jsonRequest(target: Target): Buffer {
  return post(target, chat('Say one sentence about a fox and a dog.'));
}

export function streamRequest(target: Target, { chunks, intervalMs }: StreamWish): Buffer {
  return post(target, { ...chat(JSON.stringify({ chunks, intervalMs })), stream: true });
}

function chat(content: string): object {
  return { model: BENCH_MODEL, messages: [{ role: 'user', content }] };
}

/** A chat request as it goes over the wire. */
function post(target: Target, chatBody: object): Buffer {
  const body = JSON.stringify(chatBody);
  const headers = {
    host: new URL(target.origin).host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...target.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
