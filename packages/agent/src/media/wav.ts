/** WAV files: 16-bit mono PCM with true sizes, and notes inside the file. */

/** The sample rate of many speech models, in Hz. */
export const SAMPLE_RATE = 24_000;
const BYTES_A_SAMPLE = 2;

/** More chunks than any recorder writes; reading a file of empty chunks stops here. */
const MAX_CHUNKS = 1_000;

/** The notes of a file by RIFF's four-letter names, such as `ICMT`, a comment. */
export type WavNotes = ReadonlyMap<string, string>;

export interface WavFacts {
  /** Null if the header does not contain it. */
  readonly durationS: number | null;
  readonly notes: WavNotes;
}

/**
 * The bytes before and after the samples, which begin at byte 44, where many programs expect them.
 */
export interface WavFrame {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Length of the whole file. */
  readonly bytes: number;
}

export function frameWav(
  samples: number,
  notes: WavNotes = new Map(),
  sampleRate = SAMPLE_RATE,
): WavFrame {
  const dataBytes = samples * BYTES_A_SAMPLE;
  const tail = notes.size === 0 ? Buffer.alloc(0) : listOf(notes);
  const inner = Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format(sampleRate))]);
  const rest = inner.length + CHUNK_HEAD + dataBytes + tail.length;
  const head = Buffer.concat([chunkHead('RIFF', rest), inner, chunkHead('data', dataBytes)]);
  return { head, tail, bytes: head.length + dataBytes + tail.length };
}

/** Null if the bytes are not a WAV file. The duration counts only samples that are present. */
export function readWav(bytes: Buffer): WavFacts | null {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') return null;
  if (bytes.toString('latin1', 8, 12) !== 'WAVE') return null;
  const chunks = chunksOf(bytes.subarray(12));
  const list = chunks.get('LIST');
  const notes = [...(list === undefined ? [] : chunksOf(list.subarray(4)))];
  return {
    durationS: durationOf(chunks.get('fmt '), chunks.get('data')),
    notes: new Map(notes.map(([name, text]) => [name, text.toString().replace(/\0$/, '')])),
  };
}

const CHUNK_HEAD = 8;

function listOf(notes: WavNotes): Buffer {
  const entries = [...notes].map(([name, text]) => chunk(name, Buffer.from(`${text}\0`)));
  return chunk('LIST', Buffer.concat([Buffer.from('INFO'), ...entries]));
}

function format(sampleRate: number): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(1, 0);
  body.writeUInt16LE(1, 2);
  body.writeUInt32LE(sampleRate, 4);
  body.writeUInt32LE(sampleRate * BYTES_A_SAMPLE, 8);
  body.writeUInt16LE(BYTES_A_SAMPLE, 12);
  body.writeUInt16LE(BYTES_A_SAMPLE * 8, 14);
  return body;
}

/** Chunks begin at even offsets; the padding byte is not counted. */
function chunk(name: string, body: Buffer): Buffer {
  return Buffer.concat([chunkHead(name, body.length), body, Buffer.alloc(body.length % 2)]);
}

function chunkHead(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(CHUNK_HEAD);
  head.write(name, 'latin1');
  head.writeUInt32LE(bytes, 4);
  return head;
}

/**
 * The first chunk of each name. Sizes beyond the end mean "all that follows", as in streamed files.
 */
function chunksOf(bytes: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  let at = 0;
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEAD <= bytes.length; count++) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const start = at + CHUNK_HEAD;
    if (!chunks.has(name)) chunks.set(name, bytes.subarray(start, start + size));
    at = start + size + (size % 2);
  }
  return chunks;
}

function durationOf(format: Buffer | undefined, data: Buffer | undefined): number | null {
  if (format === undefined || format.length < 16 || data === undefined) return null;
  const bytesASecond = format.readUInt32LE(8);
  return bytesASecond === 0 ? null : data.length / bytesASecond;
}
