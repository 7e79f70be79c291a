/** One answer of the demo server. */
import type { JsonObject } from '../openai-wire/json.js';

export interface DemoReply {
  readonly status: number;
  readonly contentType: string;
  /** Null where only the end of the body tells. */
  readonly bytes: number | null;
  /** Sent piece by piece, at the caller's pace. */
  readonly body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

export function jsonReply(document: JsonObject, status = 200): DemoReply {
  return { ...textReply(JSON.stringify(document), 'application/json'), status };
}

export function textReply(text: string, contentType: string): DemoReply {
  return { status: 200, contentType, bytes: Buffer.byteLength(text), body: [text] };
}
