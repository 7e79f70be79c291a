/** Opus (RFC 6716) by libopus as WebAssembly, and its headers in Ogg (RFC 7845). */
import { createDecoder, createEncoder, isOpusError } from 'libopus-wasm';
import { writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { FileBytes } from './file-bytes.js';
import { mixed, BrokenSound, UnknownSound } from './sound.js';
import type { Block, Sound } from './sound.js';
import { resampled } from './resample.js';

const RATES = [8_000, 12_000, 16_000, 24_000, 48_000] as const;

type OpusRate = (typeof RATES)[number];

/** Positions in Ogg, and the samples to skip, use this rate at any rate of the sound. */
const POSITION_RATE = 48_000;

/** The bit rate of the ffmpeg converter, too: speech sounds unchanged. */
const BITRATE = 64_000;

const FRAMES_A_SECOND = 50;

const VENDOR = 'inference-gateway';

/** Writes Opus in Ogg into the open file. Returns its bytes. */
export async function writeOpus(file: number, sound: Sound, limitBytes: number): Promise<number> {
  const rate = RATES.find((one) => one >= sound.sampleRate) ?? POSITION_RATE;
  const channels = sound.channels === 2 ? 2 : 1;
  const frameSize = rate / FRAMES_A_SECOND;
  const encoder = await createEncoder({ channels, sampleRate: rate, bitrate: BITRATE, frameSize });
  const scale = POSITION_RATE / rate;
  const skipped = encoder.getLookahead();
  let written = 0;
  const ogg = new OggWriter((page) => {
    written += page.length;
    if (written >= limitBytes) throw new BrokenSound(`it makes more than ${limitBytes} bytes`);
    writeSync(file, page);
  });
  ogg.packet(idHeader({ channels, skipped: skipped * scale, sampleRate: sound.sampleRate }), 0);
  ogg.flush();
  ogg.packet(commentHeader(), 0);
  ogg.flush();
  const way = { channels, from: sound.sampleRate, to: rate };
  const blocks = resampled(mixed(sound.blocks, channels), way);
  const frames = framesOf(blocks, { channels, frameSize, silence: skipped });
  let packets = 0;
  for (const { frame, samples } of frames) {
    packets += 1;
    // The last position shows where the sound ends within its last packet.
    const end = Math.min(packets * frameSize, skipped + samples);
    ogg.packet(encoder.encodeFloat(frame), end * scale);
    if (packets % FRAMES_A_SECOND === 0) ogg.flush();
  }
  ogg.flush(true);
  encoder.free();
  return written;
}

interface Frame {
  /** Interleaved samples of the channels. */
  readonly frame: Float32Array;
  /** The number of samples so far; at the end of the sound, the total. */
  readonly samples: number;
}

/** Frames of one size; after the last sample, silence for the encoder's delay. */
function* framesOf(
  blocks: Iterable<Block>,
  {
    channels,
    frameSize,
    silence,
  }: { readonly channels: number; readonly frameSize: number; readonly silence: number },
): Generator<Frame> {
  let frame = new Float32Array(frameSize * channels);
  let filled = 0;
  let samples = 0;
  for (const block of blocks) {
    const count = block[0]?.length ?? 0;
    for (let i = 0; i < count; i++) {
      for (let c = 0; c < channels; c++) frame[filled * channels + c] = block[c]?.[i] ?? 0;
      samples += 1;
      filled += 1;
      if (filled < frameSize) continue;
      // A full frame may be the last of the sound: it ends after the samples known so far.
      yield { frame, samples };
      frame = new Float32Array(frameSize * channels);
      filled = 0;
    }
  }
  for (let left = filled + silence; left > 0; left -= frameSize) {
    yield { frame, samples };
    frame = new Float32Array(frameSize * channels);
  }
}

function idHeader(facts: {
  readonly channels: number;
  readonly skipped: number;
  readonly sampleRate: number;
}): Buffer {
  const header = Buffer.alloc(19);
  header.write('OpusHead', 'latin1');
  header.writeUInt8(1, 8);
  header.writeUInt8(facts.channels, 9);
  header.writeUInt16LE(facts.skipped, 10);
  header.writeUInt32LE(facts.sampleRate, 12);
  return header;
}

function commentHeader(): Buffer {
  const header = Buffer.alloc(8 + 4 + VENDOR.length + 4);
  header.write('OpusTags', 'latin1');
  header.writeUInt32LE(VENDOR.length, 8);
  header.write(VENDOR, 12, 'latin1');
  return header;
}

/** Opus in Ogg, at `wishedRate` if the decoder can output it. Throws for anything else. */
export async function readOgg(file: FileBytes, wishedRate: number | null): Promise<Sound> {
  const pages = oggPages(file, (packet) => packet.toString('latin1', 0, 8) === 'OpusHead');
  const first = pages.next();
  const head = first.done === true ? undefined : first.value.packets[0];
  if (head === undefined) throw new UnknownSound('an Ogg file without Opus or Vorbis');
  const stream = await openOpus(head, wishedRate);
  return { ...stream.facts, blocks: blocksOf(pages, stream) };
}

/** Opus in another container, whose setup data contains the same header. */
export async function readOpusPackets(
  head: Buffer,
  packets: Iterable<Uint8Array>,
  wishedRate: number | null,
): Promise<Sound> {
  const stream = await openOpus(head, wishedRate);
  return { ...stream.facts, blocks: stream.skipping(decoded(packets, stream)) };
}

function* decoded(packets: Iterable<Uint8Array>, stream: OpusStream): Generator<Block> {
  for (const packet of packets) yield stream.decode(packet);
}

function* blocksOf(pages: Iterable<OggPage>, stream: OpusStream): Generator<Block> {
  let decoded = 0;
  let isHeader = true;
  for (const { packets, position, isLast } of pages) {
    const blocks = packets.flatMap((packet) => {
      if (!isHeader) return [stream.decode(packet)];
      isHeader = false;
      return [];
    });
    const count = blocks.reduce((sum, block) => sum + (block[0]?.length ?? 0), 0);
    decoded += count;
    const end = position === null ? decoded : (position * stream.facts.sampleRate) / POSITION_RATE;
    // Only the last page may end within a packet.
    const beyond = isLast ? Math.max(0, decoded - Math.max(0, Math.round(end))) : 0;
    yield* stream.skipping(shortened(blocks, count - Math.min(beyond, count)));
  }
}

function shortened(blocks: readonly Block[], count: number): Block[] {
  let left = count;
  return blocks.map((block) => {
    const kept = Math.min(left, block[0]?.length ?? 0);
    left -= kept;
    return block.map((channel) => channel.subarray(0, kept));
  });
}

interface OpusStream {
  readonly facts: Pick<Sound, 'sampleRate' | 'channels'>;
  /** A damaged packet becomes silence. Throws if all of the first ones are damaged. */
  decode(packet: Uint8Array): Block;
  /** Skips the encoder's samples before the sound. */
  skipping(blocks: Iterable<Block>): Generator<Block>;
}

/** The file counts as broken after this many damaged packets, if none was intact. */
const MAX_DAMAGED = 50;

/** `head` is the header of RFC 7845, with its signature; Matroska and MP4 contain the same. */
async function openOpus(head: Buffer, wishedRate: number | null): Promise<OpusStream> {
  if (head.length < 19) throw new BrokenSound('its Opus header is cut off');
  const channels = head.readUInt8(9);
  if (head.readUInt8(18) !== 0 || (channels !== 1 && channels !== 2)) {
    throw new UnknownSound(`Opus with ${channels} channels of its own order`);
  }
  const sampleRate: OpusRate = RATES.find((rate) => rate === wishedRate) ?? POSITION_RATE;
  const decoder = await createDecoder({ channels, sampleRate });
  let skip = Math.round((head.readUInt16LE(10) * sampleRate) / POSITION_RATE);
  let whole = 0;
  let damaged = 0;
  const decode = (packet: Uint8Array): Block => {
    try {
      const samples = decoder.decodeFloat(packet.length === 0 ? null : packet);
      whole += 1;
      return planes(samples, channels);
    } catch (error) {
      if (!isOpusError(error)) throw error;
      damaged += 1;
      if (whole === 0 && damaged > MAX_DAMAGED) throw new BrokenSound('its Opus is damaged');
      return planes(new Float32Array(0), channels);
    }
  };
  function* skipping(blocks: Iterable<Block>): Generator<Block> {
    for (const block of blocks) {
      const dropped = Math.min(skip, block[0]?.length ?? 0);
      skip -= dropped;
      yield dropped === 0 ? block : block.map((channel) => channel.subarray(dropped));
    }
  }
  return { facts: { sampleRate, channels }, decode, skipping };
}

function planes(samples: Float32Array, channels: number): Block {
  if (channels === 1) return [samples];
  const frames = samples.length / channels;
  return Array.from({ length: channels }, (_, channel) => {
    const plane = new Float32Array(frames);
    for (let i = 0; i < frames; i++) plane[i] = samples[i * channels + channel] ?? 0;
    return plane;
  });
}

// Ogg, the container of Opus and Vorbis (RFC 3533): pages of packets, each with a checksum.

const HEADER_BYTES = 27;

const MAX_SEGMENTS = 255;

const SEGMENT_BYTES = 255;

const MAX_PAGE_BYTES = HEADER_BYTES + MAX_SEGMENTS + MAX_SEGMENTS * SEGMENT_BYTES;

/** Far more than an audio packet or Vorbis's tables need. */
const MAX_PACKET_BYTES = 512 * 1024;

const CONTINUED = 1;

const FIRST = 2;

const LAST = 4;

/** No packet ends on the page. */
const NO_POSITION = 0xffff_ffff_ffff_ffffn;

/** The packets that end on one page of the stream. */
interface OggPage {
  readonly packets: readonly Buffer[];
  /** Samples from the stream's start to the end of the last packet; null if no packet ends here. */
  readonly position: number | null;
  /** The stream ends here. */
  readonly isLast: boolean;
}

/**
 * The pages of the first stream whose first packet `isWanted`. Bytes between pages are skipped;
 * data after the stream's last page is not read.
 */
function* oggPages(file: FileBytes, isWanted: (packet: Buffer) => boolean): Generator<OggPage> {
  let serial: number | null = null;
  let begun: Buffer[] = [];
  for (const page of rawPages(file)) {
    if (serial === null && page.flags & FIRST) {
      if (isWanted(page.body.subarray(0, page.lacing[0] ?? 0))) ({ serial } = page);
    }
    if (page.serial !== serial) continue;
    if (!(page.flags & CONTINUED)) begun = [];
    const { packets, open } = packetsOf(page, begun);
    begun = open;
    const isLast = (page.flags & LAST) !== 0;
    const { position } = page;
    yield { packets, position: position === NO_POSITION ? null : Number(position), isLast };
    if (isLast) return;
  }
}

interface RawPage {
  readonly flags: number;
  readonly position: bigint;
  readonly serial: number;
  readonly lacing: Buffer;
  readonly body: Buffer;
}

function* rawPages(file: FileBytes): Generator<RawPage> {
  let at = 0;
  while (at + HEADER_BYTES <= file.size) {
    const bytes = file.read(at, MAX_PAGE_BYTES);
    if (bytes.toString('latin1', 0, 4) !== 'OggS') {
      const next = bytes.indexOf('OggS', 1, 'latin1');
      // The signature may begin at the very end of the searched part.
      at += next === -1 ? Math.max(1, bytes.length - 3) : next;
      continue;
    }
    const segments = bytes.readUInt8(26);
    const lacing = Buffer.from(bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments));
    const start = HEADER_BYTES + segments;
    const size = lacing.reduce((sum, length) => sum + length, 0);
    if (start + size > bytes.length) return;
    yield {
      flags: bytes.readUInt8(5),
      position: bytes.readBigUInt64LE(6),
      serial: bytes.readUInt32LE(14),
      lacing,
      body: Buffer.from(bytes.subarray(start, start + size)),
    };
    at += start + size;
  }
}

/** A packet ends with a segment that is not full; an open packet continues on the next page. */
function packetsOf({ lacing, body }: RawPage, begun: readonly Buffer[]) {
  const packets: Buffer[] = [];
  let open = [...begun];
  let openBytes = open.reduce((sum, { length }) => sum + length, 0);
  let at = 0;
  for (const length of lacing) {
    open.push(body.subarray(at, at + length));
    openBytes += length;
    at += length;
    if (openBytes > MAX_PACKET_BYTES) throw new BrokenSound('it has a packet without an end');
    if (length === SEGMENT_BYTES) continue;
    packets.push(Buffer.concat(open));
    open = [];
    openBytes = 0;
  }
  return { packets, open };
}

/** Writes one stream. Packets gather on a page until it is full or `flush` ends it. */
class OggWriter {
  readonly #write: (page: Buffer) => void;
  readonly #serial = randomBytes(4).readUInt32LE();
  #number = 0;
  #lacing: number[] = [];
  #packets: Uint8Array[] = [];
  #position = 0;

  constructor(write: (page: Buffer) => void) {
    this.#write = write;
  }

  /** `position` counts the samples up to the packet's end. No packet is larger than a page. */
  packet(packet: Uint8Array, position: number): void {
    const segments = Math.floor(packet.length / SEGMENT_BYTES) + 1;
    if (this.#lacing.length + segments > MAX_SEGMENTS) this.flush();
    for (let i = 1; i < segments; i++) this.#lacing.push(SEGMENT_BYTES);
    this.#lacing.push(packet.length % SEGMENT_BYTES);
    this.#packets.push(packet);
    this.#position = position;
  }

  /** Ends the page; the stream's last page is flagged, and may be empty. */
  flush(isLast = false): void {
    if (this.#lacing.length === 0 && !isLast) return;
    const head = Buffer.alloc(HEADER_BYTES);
    head.write('OggS', 'latin1');
    head.writeUInt8((this.#number === 0 ? FIRST : 0) | (isLast ? LAST : 0), 5);
    head.writeBigUInt64LE(BigInt(this.#position), 6);
    head.writeUInt32LE(this.#serial, 14);
    head.writeUInt32LE(this.#number, 18);
    head.writeUInt8(this.#lacing.length, 26);
    const page = Buffer.concat([head, Buffer.from(this.#lacing), ...this.#packets]);
    page.writeUInt32LE(checksum(page), 22);
    this.#write(page);
    this.#number += 1;
    this.#lacing = [];
    this.#packets = [];
  }
}

/** CRC with polynomial 0x04c11db7, bits not reflected, over the page with a zero checksum field. */
function checksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) sum = ((sum << 8) ^ (SUMS[((sum >>> 24) & 0xff) ^ byte] ?? 0)) >>> 0;
  return sum;
}

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000_0000 ? (sum << 1) ^ 0x04c1_1db7 : sum << 1;
  return sum >>> 0;
});
