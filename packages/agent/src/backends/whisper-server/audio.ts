/** Which sound files whisper.cpp's server reads by itself. */
import { startOf } from '../../media/start-of.js';
import type { LocalUpload } from '../backend.js';

export interface WhisperAudio {
  readonly isReadable: boolean;
  /** The whole file, from its first byte. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

const READABLE_TYPES: ReadonlySet<string> = new Set(['audio/wav', 'audio/mpeg', 'audio/flac']);
/** An Ogg page's header and the first words of what is in it. */
const OGG_START_BYTES = 64;

/** Ogg holds Vorbis, which it reads, or Opus, which it does not: only the first page tells. */
export async function readAudio(upload: LocalUpload): Promise<WhisperAudio> {
  const { contentType } = upload;
  if (contentType !== 'audio/ogg') {
    return { isReadable: READABLE_TYPES.has(contentType), bytes: upload.read() };
  }
  const { start, bytes } = await startOf(upload.read(), OGG_START_BYTES);
  return { isReadable: start.includes('vorbis'), bytes };
}
