/** Opus (RFC 6716) by libopus as WebAssembly, and its headers in Ogg (RFC 7845). */
import { createDecoder, createEncoder, isOpusError } from 'libopus-wasm';
import { writeSync } from 'node:fs';
import type { FileBytes } from './file-bytes.js';
import { OggWriter, oggPages } from './ogg.js';
import type { OggPage } from './ogg.js';
import { mixed, BrokenSound, UnknownSound } from './sound.js';
import type { Block, Sound } from './sound.js';
import { resampled } from './resample.js';

const RATES = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
type OpusRate = (typeof RATES)[number];
/** Positions in Ogg, and what is to be skipped, count samples of this rate, whatever it is. */
const POSITION_RATE = 48_000;
/** What ffmpeg's way makes, too: speech sounds as it was. */
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
    // The last position tells where the sound ends within its last packet.
    const end = Math.min(packets * frameSize, skipped + samples);
    ogg.packet(encoder.encodeFloat(frame), end * scale);
    if (packets % FRAMES_A_SECOND === 0) ogg.flush();
  }
  ogg.flush(true);
  encoder.free();
  return written;
}

interface Frame {
  /** The channels' samples in turn. */
  readonly frame: Float32Array;
  /** All samples of the sound so far; at its end, all that there are. */
  readonly samples: number;
}

/** Frames of one size; after the last sample as much silence as the encoder lags behind. */
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
      // A frame that is full may be the last of the sound: it ends beyond what is known so far.
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

/** Opus in Ogg, at `wishedRate` where the decoder can give it. Throws for anything else. */
export async function readOgg(file: FileBytes, wishedRate: number | null): Promise<Sound> {
  const pages = oggPages(file, (packet) => packet.toString('latin1', 0, 8) === 'OpusHead');
  const first = pages.next();
  const head = first.done === true ? undefined : first.value.packets[0];
  if (head === undefined) throw new UnknownSound('an Ogg file without Opus or Vorbis');
  const stream = await openOpus(head, wishedRate);
  return { ...stream.facts, blocks: blocksOf(pages, stream) };
}

/** Opus in another container, whose setup holds the same header. */
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
  /** A packet that is damaged is silence. Throws where all of the first ones are. */
  decode(packet: Uint8Array): Block;
  /** Without what the encoder put before the sound. */
  skipping(blocks: Iterable<Block>): Generator<Block>;
}

/** So many packets may be damaged before the file counts as broken, as long as none was whole. */
const MAX_DAMAGED = 50;

/** `head` as RFC 7845 has it, with its mark; Matroska and MP4 hold the same. */
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
