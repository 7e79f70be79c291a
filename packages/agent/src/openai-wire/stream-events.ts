/** A local server's event stream as the events that the coordinator passes on. */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { ChunkReader } from './chunk-reader.js';
import type { JsonObject } from './json.js';
import { SseParser } from './sse-parser.js';
import type { SseEvent } from './sse-parser.js';

/** The bytes of an answer's body. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  /** All that matters was read: the connection may be kept, whatever still comes. */
  finished(): void;
}

/**
 * Each item holds the events that one read of the socket completed, so that a flood costs one
 * write a read. What came before a failure is yielded before it is thrown.
 */
export async function* streamEvents(
  source: ByteSource,
  reader: ChunkReader,
): AsyncGenerator<string, TokenUsage | null, void> {
  const parser = new SseParser();
  for await (const bytes of source) {
    const { text, failure } = translate(reader, () => parser.push(bytes));
    if (text !== '') yield text;
    if (failure !== null) throw failure.error;
    if (reader.done) break;
  }
  if (reader.done) source.finished();
  const { text, failure } = translate(reader, () => parser.end());
  if (text !== '') yield text;
  if (failure !== null) throw failure.error;
  const owed = reader.finish();
  if (owed.length > 0) yield owed.map(eventOf).join('');
  return reader.usage;
}

/** One whole event; JSON holds no line break, so it is always one `data:` line. */
export function eventOf(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

interface Translated {
  readonly text: string;
  readonly failure: { readonly error: unknown } | null;
}

function translate(reader: ChunkReader, parse: () => SseEvent[]): Translated {
  let text = '';
  try {
    for (const event of parse()) {
      const chunk = reader.read(event);
      if (chunk !== null) text += eventOf(chunk);
    }
  } catch (error) {
    return { text, failure: { error } };
  }
  return { text, failure: null };
}
