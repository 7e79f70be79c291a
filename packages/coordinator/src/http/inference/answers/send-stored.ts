/** An answer that lies on disk, on its way to a caller who may read slowly or leave. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A fixed number; Node warns of a leak from eleven on. */
const MAX_LISTENERS = 20;

interface Stored {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** A caller that takes no byte for this long has stalled. */
  readonly stallMs: number;
}

/** Resolves when the caller has it all, or has left. */
export async function sendStored(response: ServerResponse, stored: Stored): Promise<void> {
  const { bytes, pieces, stallMs } = stored;
  response.setHeader('Content-Length', bytes);
  // A pipeline listens beside all those who wait for the end of a call.
  response.setMaxListeners(MAX_LISTENERS);
  response.setTimeout(stallMs, () => response.destroy());
  // What can go wrong here is that the caller has left; the answer itself is whole and kept.
  await pipeline(Readable.from(pieces), response).catch(() => response.destroy());
}
