/**
 * The duration of the sound sent so far, computed while its bytes pass. If the stream breaks off,
 * there is no file to measure.
 */
import { PCM } from '@inference-gateway/shared/media/types';
import { PCM_BYTES_PER_SECOND } from './measure.js';
import { mp3BytesPerSecond } from './mp3-seconds.js';

/** The usual header size of a WAV file. */
const WAV_HEADER_BYTES = 44;
/** Enough for the first page of an Ogg stream or an ID3 tag of MP3. */
const START_BYTES = 4 * 1024;
const PAGE = 'OggS';
/** Offset in the page header of its last sample's position, in samples since the start. */
const GRANULE_AT = 6;
const PAGE_HEADER_BYTES = 14;
/** Marks a page that ends no packet. */
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;
const OPUS_RATE = 48_000;

export class SentSound {
  readonly #contentType: string;
  #start: Buffer = Buffer.alloc(0);
  /** The end of the previous piece: a page header may span two pieces. */
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #granule = 0;

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  add(bytes: Uint8Array): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#bytes += piece.length;
    const missing = START_BYTES - this.#start.length;
    if (missing > 0) this.#start = Buffer.concat([this.#start, piece.subarray(0, missing)]);
    if (this.#contentType === 'audio/ogg') this.#readPages(piece);
  }

  /** 0 for formats whose length is unknown until the end: AAC, FLAC, M4A, WebM. */
  get ms(): number {
    return Math.round(Math.max(0, this.#seconds()) * 1000);
  }

  #seconds(): number {
    switch (this.#contentType) {
      case 'audio/wav': {
        const rate = wavBytesPerSecond(this.#start);
        return rate === 0 ? 0 : (this.#bytes - WAV_HEADER_BYTES) / rate;
      }
      case PCM:
        return this.#bytes / PCM_BYTES_PER_SECOND;
      case 'audio/mpeg': {
        const rate = mp3BytesPerSecond(this.#start);
        return rate === null ? 0 : this.#bytes / rate;
      }
      case 'audio/ogg':
        return oggSeconds(this.#start, this.#granule);
      default:
        return 0;
    }
  }

  /** Uses the start of the last page: the page before it was sent completely. */
  #readPages(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const at = bytes.lastIndexOf(PAGE, bytes.length - PAGE_HEADER_BYTES);
    if (at !== -1 && at + PAGE_HEADER_BYTES <= bytes.length) {
      const granule = bytes.readBigUInt64LE(at + GRANULE_AT);
      if (granule !== NO_GRANULE) this.#granule = Math.max(this.#granule, Number(granule));
    }
    this.#rest = Buffer.from(bytes.subarray(Math.max(0, bytes.length - PAGE_HEADER_BYTES + 1)));
  }
}

/** 0 if the bytes do not begin with the usual WAV header. */
function wavBytesPerSecond(start: Buffer): number {
  const isCanonical =
    start.length >= WAV_HEADER_BYTES && start.toString('latin1', 8, 16) === 'WAVEfmt ';
  return isCanonical ? start.readUInt32LE(28) : 0;
}

/** RFC 7845, section 5.1. Vorbis has its rate in the identification header. */
function oggSeconds(start: Buffer, granule: number): number {
  const opusAt = start.indexOf('OpusHead');
  if (opusAt !== -1 && opusAt + 12 <= start.length) {
    return (granule - start.readUInt16LE(opusAt + 10)) / OPUS_RATE;
  }
  const vorbisAt = start.indexOf('\u0001vorbis', 0, 'latin1');
  if (vorbisAt === -1 || vorbisAt + 16 > start.length) return 0;
  const rate = start.readUInt32LE(vorbisAt + 12);
  return rate === 0 ? 0 : granule / rate;
}
