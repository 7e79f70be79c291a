/**
 * Binary frames: an 8-byte header and at most 64 KiB.
 *
 *     u8 type (1 DATA, 2 WINDOW, 3 MESSAGE) · u8 flags · u16 zero · u32 stream id, big-endian
 *
 * DATA is followed by raw bytes, WINDOW by u32 credit bytes, MESSAGE by the u32 length of a control
 * message, the message, and the bytes that belong to it.
 */
import { LINK } from './version.js';

const HEADER_BYTES = 8;
const TYPE_DATA = 1;
const TYPE_WINDOW = 2;
const TYPE_MESSAGE = 3;
const LENGTH_BYTES = 4;

export type Frame =
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly kind: 'window'; readonly stream: number; readonly credit: number }
  | {
      readonly kind: 'message';
      readonly stream: number;
      readonly text: string;
      readonly bytes: Uint8Array;
    };

/** A DATA frame around a copy of the bytes, of which there are 1 to 65,536. */
export function encodeData(stream: number, bytes: Uint8Array): Uint8Array {
  // Small frames use Node's pool: a separate block for each would increase garbage collection.
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  writeHeader(frame, TYPE_DATA, stream);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/** A MESSAGE frame around copies of a control message and of its bytes. */
export function encodeMessage(stream: number, text: string, bytes: Uint8Array): Uint8Array {
  const length = Buffer.byteLength(text);
  const start = HEADER_BYTES + LENGTH_BYTES;
  const frame = Buffer.allocUnsafe(start + length + bytes.length);
  writeHeader(frame, TYPE_MESSAGE, stream);
  writeUint32(frame, HEADER_BYTES, length);
  frame.write(text, start);
  frame.set(bytes, start + length);
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
  if (message[0] === TYPE_MESSAGE) return decodeMessage(message, stream);
  if (message[0] !== TYPE_WINDOW || length !== 4) return null;
  return { kind: 'window', stream, credit: readUint32(message, HEADER_BYTES) };
}

function decodeMessage(message: Uint8Array, stream: number): Frame | null {
  const start = HEADER_BYTES + LENGTH_BYTES;
  if (message.length <= start) return null;
  const end = start + readUint32(message, HEADER_BYTES);
  if (end > message.length || end - start > LINK.maxControlBytes) return null;
  if (message.length - end > LINK.maxDataBytes) return null;
  const text = Buffer.from(message.buffer, message.byteOffset + start, end - start).toString();
  return { kind: 'message', stream, text, bytes: message.subarray(end) };
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
  const at = (index: number): number => frame[offset + index] ?? 0;
  return at(0) * 0x1000000 + ((at(1) << 16) | (at(2) << 8) | at(3));
}
