import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { Wire } from '@inference-gateway/shared/protocol/writer';
import { describe, expect, it } from 'vitest';

/** A socket that logs its frames and empties when the test says so. */
class RecordingWire implements Wire {
  readonly log: string[] = [];
  corks = 0;
  #buffered = 0;
  #sent: (() => void)[] = [];

  send(frame: string | Uint8Array, sent: () => void): void {
    this.#buffered += frame.length;
    this.#sent.push(sent);
    this.log.push(describeFrame(frame));
  }

  bufferedBytes(): number {
    return this.#buffered;
  }

  cork(): void {
    this.corks += 1;
  }

  uncork(): void {}

  /** The system has sent everything. */
  flush(): void {
    this.#buffered = 0;
    for (const sent of this.#sent.splice(0)) sent();
  }
}

function describeFrame(frame: string | Uint8Array): string {
  if (typeof frame === 'string') return frame;
  const decoded = decodeFrame(frame);
  return decoded?.kind === 'data' ? `${decoded.stream}:${decoded.bytes.length}` : 'window';
}

const KIB = 1024;

describe('the writer of a link', () => {
  it('cuts bytes into frames of at most 64 KiB', () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 1024 * KIB).open(1, 256 * KIB);
    stream.data(new Uint8Array(130 * KIB));
    expect(wire.log).toEqual(['1:65536', '1:65536', '1:2048']);
  });

  it('lets streams take turns, one frame each', () => {
    const wire = new RecordingWire();
    const writer = new LinkWriter(wire, 1);
    const [first, second] = [writer.open(1, 256 * KIB), writer.open(2, 256 * KIB)];
    first.data(new Uint8Array(192 * KIB));
    second.data(new Uint8Array(192 * KIB));
    for (let i = 0; i < 6; i++) wire.flush();
    // The first stream was alone at its first frame; after that they alternate.
    expect(wire.log.map((frame) => frame[0]).join('')).toBe('112122');
  });

  it('sends control messages ahead of what streams hold', () => {
    const wire = new RecordingWire();
    const writer = new LinkWriter(wire, 1);
    const stream = writer.open(1, 256 * KIB);
    stream.data(new Uint8Array(200 * KIB));
    writer.control('RESET');
    wire.flush();
    expect(wire.log).toEqual(['1:65536', 'RESET', '1:65536']);
  });

  it('keeps a message of a stream behind the bytes that were put in before it', () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 1024 * KIB).open(1, 256 * KIB);
    stream.text('HEAD');
    stream.data(new Uint8Array(100 * KIB));
    stream.text('END');
    expect(wire.log).toEqual(['HEAD', '1:65536', '1:36864', 'END']);
  });

  it('stops at the credit of a stream and goes on with what is granted', () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 1024 * KIB).open(1, 100);
    stream.data(new Uint8Array(250));
    stream.text('END');
    expect(wire.log).toEqual(['1:100']);
    stream.grant(100);
    expect(wire.log).toEqual(['1:100', '1:100']);
    stream.grant(100);
    expect(wire.log).toEqual(['1:100', '1:100', '1:50', 'END']);
  });

  it('lets a stream without credit hold up no other', () => {
    const wire = new RecordingWire();
    const writer = new LinkWriter(wire, 1024 * KIB);
    writer.open(1, 10).data(new Uint8Array(20));
    writer.open(2, 100).data(new Uint8Array(20));
    expect(wire.log).toEqual(['1:10', '2:20']);
  });

  it('fills the socket no further than its high-water mark', () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 100 * KIB).open(1, 10_000 * KIB);
    stream.data(new Uint8Array(1_000 * KIB));
    expect(wire.log).toHaveLength(2);
    wire.flush();
    expect(wire.log).toHaveLength(4);
  });

  it('brakes a producer that is more than a window ahead', async () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 1024 * KIB).open(1, 64 * KIB);
    stream.data(new Uint8Array(400 * KIB));
    let released = false;
    const drained = stream.drained().finally(() => {
      released = true;
    });
    stream.grant(64 * KIB);
    await Promise.resolve();
    expect(released).toBe(false);
    stream.grant(64 * KIB);
    await drained;
    expect(released).toBe(true);
  });

  it('drops what a discarded stream still held, and releases who waits for it', async () => {
    const wire = new RecordingWire();
    const stream = new LinkWriter(wire, 1024 * KIB).open(1, 10);
    stream.data(new Uint8Array(400 * KIB));
    const waiting = Promise.all([stream.drained(), stream.emptied()]);
    stream.discard();
    await waiting;
    stream.grant(1000);
    expect(wire.log).toEqual(['1:10']);
  });

  it('writes everything of one turn of the event loop at once', async () => {
    const wire = new RecordingWire();
    const writer = new LinkWriter(wire, 1024 * KIB);
    writer.control('a');
    writer.control('b');
    writer.open(1, 100).data(new Uint8Array(5));
    expect(wire.corks).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    writer.control('c');
    expect(wire.corks).toBe(2);
  });
});
