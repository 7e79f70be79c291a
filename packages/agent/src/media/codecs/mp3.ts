/** MP3 by mpg123 as WebAssembly. */
import { MPEGDecoder } from 'mpg123-decoder';
import type { FileBytes } from './file-bytes.js';
import { BrokenSound } from './sound.js';
import type { Block, Sound } from './sound.js';

const PIECE_BYTES = 16 * 1024;
/** Limit of other data before the first sound, such as a picture in a tag. */
const MAX_SILENT_BYTES = 16 * 1024 * 1024;

export async function readMp3(file: FileBytes): Promise<Sound> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const pieces = decoded(file, decoder);
  const first = pieces.next();
  if (first.done === true) throw new BrokenSound('it holds no MP3 that can be decoded');
  const { sampleRate } = first.value;
  // The decoder always outputs two channels.
  const channels = isMono(file) ? 1 : 2;
  return { sampleRate, channels, blocks: blocksOf(first.value, pieces, channels) };
}

interface Piece {
  readonly sampleRate: number;
  readonly block: Block;
}

function* decoded(file: FileBytes, decoder: MPEGDecoder): Generator<Piece, void> {
  let isSilent = true;
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    const piece = Uint8Array.from(file.read(at, PIECE_BYTES));
    const { channelData, samplesDecoded, sampleRate } = decoder.decode(piece);
    if (samplesDecoded > 0) {
      isSilent = false;
      yield { sampleRate, block: channelData };
    }
    if (isSilent && at > MAX_SILENT_BYTES) return;
  }
}

function* blocksOf(first: Piece, others: Iterable<Piece>, channels: number): Generator<Block> {
  yield first.block.slice(0, channels);
  for (const { block, sampleRate } of others) {
    if (sampleRate !== first.sampleRate) {
      throw new BrokenSound('its sample rate changes on the way');
    }
    yield block.slice(0, channels);
  }
}

const ID3_BYTES = 10;
const HEADER_BYTES = 4;
/** Far more than the longest frame. */
const MAX_SEARCH_BYTES = 64 * 1024;
const MONO = 0b11;

/** According to the first frame's header. */
function isMono(file: FileBytes): boolean {
  const start = file.read(tagBytes(file), MAX_SEARCH_BYTES);
  for (let at = 0; at + HEADER_BYTES <= start.length; at++) {
    const header = start.readUInt32BE(at);
    if (isFrame(header)) return ((header >>> 6) & 0b11) === MONO;
  }
  return false;
}

/** Length of a tag before the sound; its size has seven bits per byte. */
function tagBytes(file: FileBytes): number {
  const head = file.read(0, ID3_BYTES);
  if (head.length < ID3_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = head.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return ID3_BYTES + size;
}

/** Eleven set bits, and no field with a reserved value. */
function isFrame(header: number): boolean {
  const field = (shift: number, bits: number): number => (header >>> shift) & ((1 << bits) - 1);
  const isSync = field(21, 11) === 0x7ff;
  return (
    isSync && field(19, 2) !== 1 && field(17, 2) !== 0 && field(12, 4) !== 15 && field(10, 2) !== 3
  );
}
