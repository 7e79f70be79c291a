/** Splits a streamed answer (server-sent events) into its events, in order. */

/** Larger than any event of a model: a longer one means that this is no event stream. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export class EventSplitter {
  #rest = '';

  /** Returns the data of each event that is now complete. */
  push(text: string): string[] {
    this.#rest += text;
    if (this.#rest.length > MAX_EVENT_CHARACTERS)
      throw new Error('An event of the answer is too long.');
    // A CR at the end may be half of a CRLF, and so half of a blank line.
    const held = this.#rest.endsWith('\r') ? '\r' : '';
    const blocks = this.#rest.slice(0, this.#rest.length - held.length).split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = (blocks.pop() ?? '') + held;
    return blocks.flatMap(dataOf);
  }
}

/** Empty for comments, such as `: keep-alive`, and for events without a data field. */
function dataOf(block: string): string[] {
  const lines = block.split(/\r\n|\n|\r/).filter((line) => /^data(:|$)/.test(line));
  if (lines.length === 0) return [];
  return [lines.map((line) => line.replace(/^data:? ?/, '')).join('\n')];
}

/** Throws the errors of the body: an `AbortError`, or a lost connection. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const splitter = new EventSplitter();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* splitter.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Cancels the request if the caller stops reading, which frees the GPU.
    void reader.cancel().catch(() => undefined);
  }
}
