/**
 * A film or a sound without what is written beside it, while it streams. ComfyUI writes the whole
 * workflow there, with the names of the owner's files.
 */
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import { ByteCursor } from './byte-cursor.js';
import { cleanMp4 } from './clean-mp4.js';
import { cleanFlac, cleanMp3 } from './clean-sound.js';

const CLEANERS: Partial<Record<MediaFormat, (file: ByteCursor) => AsyncGenerator<Buffer>>> = {
  mp4: cleanMp4,
  flac: cleanFlac,
  mp3: cleanMp3,
};

/** MP4, FLAC and MP3 are known; anything else stays as it is. */
export function streamWithoutMetadata(
  bytes: AsyncIterable<Uint8Array>,
  format: MediaFormat,
): AsyncIterable<Uint8Array> {
  const clean = CLEANERS[format];
  return clean === undefined ? bytes : closing(new ByteCursor(bytes), clean);
}

async function* closing(
  file: ByteCursor,
  clean: (file: ByteCursor) => AsyncGenerator<Buffer>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* clean(file);
  } finally {
    await file.close();
  }
}
