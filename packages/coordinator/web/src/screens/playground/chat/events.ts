/** The events of an answer that is streamed (server-sent events), whole and in order. */

/** More than any event of a model holds: what is longer is no event stream. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export class EventSplitter {
  #rest = '';

  /** The data of each event that is complete by now. */
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

/** None of a comment, such as `: keep-alive`, and of fields that nobody here heeds. */
function dataOf(block: string): string[] {
  const lines = block.split(/\r\n|\n|\r/).filter((line) => /^data(:|$)/.test(line));
  if (lines.length === 0) return [];
  return [lines.map((line) => line.replace(/^data:? ?/, '')).join('\n')];
}

/** Throws what the body throws: an `AbortError`, or that the connection has gone. */
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
    // Whoever stops reading frees the GPU.
    void reader.cancel().catch(() => undefined);
  }
}
