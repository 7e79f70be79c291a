/**
 * Binary frames: an 8-byte header and at most 64 KiB.
 *
 *     u8 type (1 DATA, 2 WINDOW) · u8 flags · u16 zero · u32 stream id, big-endian
 *
 * DATA is followed by raw bytes, WINDOW by u32 credit bytes.
 */
import { LINK } from './version.js';

const HEADER_BYTES = 8;
const TYPE_DATA = 1;
const TYPE_WINDOW = 2;

export type Frame =
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly kind: 'window'; readonly stream: number; readonly credit: number };

/** A DATA frame around a copy of the bytes, of which there are 1 to 65,536. */
export function encodeData(stream: number, bytes: Uint8Array): Uint8Array {
  // Small frames use Node's pool: a separate block for each would increase garbage collection.
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  writeHeader(frame, TYPE_DATA, stream);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export function encodeWindow(stream: number, credit: number): Uint8Array {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + 4);
  writeHeader(frame, TYPE_WINDOW, stream);
  writeUint32(frame, HEADER_BYTES, credit);
  return frame;
}

/**
 * Reads one frame; its bytes share memory with the message.
 * Returns null if the message is not a frame of this protocol.
 */
export function decodeFrame(message: Uint8Array): Frame | null {
  if (message.length < HEADER_BYTES) return null;
  const stream = readUint32(message, 4);
  const length = message.length - HEADER_BYTES;
  if (message[0] === TYPE_DATA) {
    if (length === 0 || length > LINK.maxDataBytes) return null;
    return { kind: 'data', stream, bytes: message.subarray(HEADER_BYTES) };
  }
  if (message[0] !== TYPE_WINDOW || length !== 4) return null;
  return { kind: 'window', stream, credit: readUint32(message, HEADER_BYTES) };
}

function writeHeader(frame: Uint8Array, type: number, stream: number): void {
  frame[0] = type;
  frame[1] = frame[2] = frame[3] = 0;
  writeUint32(frame, 4, stream);
}

function writeUint32(frame: Uint8Array, offset: number, value: number): void {
  frame[offset] = value >>> 24;
  frame[offset + 1] = value >>> 16;
  frame[offset + 2] = value >>> 8;
  frame[offset + 3] = value;
}

function readUint32(frame: Uint8Array, offset: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = frame.subarray(offset, offset + 4);
  return a * 0x1000000 + ((b << 16) | (c << 8) | d);
}
