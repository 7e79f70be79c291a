/**
 * Types of audio, images and video are detected only from their first bytes: neither a file's name
 * nor its declared content type is trusted.
 */

export type MediaFamily = 'audio' | 'image' | 'video';

/** A container format, by its usual file extension. */
export type MediaFormat = keyof typeof FORMATS;

/** The number of bytes that `detectFormat` reads. */
export const DETECT_BYTES = 12;

/** The content type for each family that a container may contain. */
const FORMATS = {
  wav: { audio: 'audio/wav' },
  mp3: { audio: 'audio/mpeg' },
  aac: { audio: 'audio/aac' },
  flac: { audio: 'audio/flac' },
  ogg: { audio: 'audio/ogg' },
  mp4: { audio: 'audio/mp4', video: 'video/mp4' },
  webm: { audio: 'audio/webm', video: 'video/webm' },
  png: { image: 'image/png' },
  jpeg: { image: 'image/jpeg' },
  webp: { image: 'image/webp' },
} as const satisfies Record<string, Partial<Record<MediaFamily, string>>>;

/** Null if the bytes are the beginning of none of these formats. */
export function detectFormat(start: Uint8Array): MediaFormat | null {
  if (matches(start, 0, 'RIFF') && matches(start, 8, 'WAVE')) return 'wav';
  if (matches(start, 0, 'RIFF') && matches(start, 8, 'WEBP')) return 'webp';
  if (matches(start, 0, '\x89PNG\r\n\x1a\n')) return 'png';
  if (matches(start, 0, '\xff\xd8\xff')) return 'jpeg';
  if (matches(start, 4, 'ftyp')) return 'mp4';
  if (matches(start, 0, 'fLaC')) return 'flac';
  if (matches(start, 0, 'OggS')) return 'ogg';
  if (matches(start, 0, '\x1a\x45\xdf\xa3')) return 'webm';
  if (matches(start, 0, 'ID3')) return 'mp3';
  return detectMpegAudio(start);
}

/** The content type of the format for this family; null if it cannot contain the family. */
export function contentTypeOf(format: MediaFormat, family: MediaFamily): string | null {
  const types: Partial<Record<MediaFamily, string>> = FORMATS[format];
  return types[family] ?? null;
}

/** The format that has this content type, or null. */
export function formatOf(contentType: string): MediaFormat | null {
  const formats = Object.entries(FORMATS) as [MediaFormat, Partial<Record<MediaFamily, string>>][];
  return formats.find(([, types]) => Object.values(types).includes(contentType))?.[0] ?? null;
}

/** The usual file extension, without the dot; `bin` if the content type is unknown. */
export function extensionOf(contentType: string): string {
  if (contentType === PCM) return 'pcm';
  return contentType === 'audio/mp4' ? 'm4a' : (formatOf(contentType) ?? 'bin');
}

/** Raw samples: the only kind of audio that cannot be detected. */
export const PCM = 'audio/pcm';

/**
 * A frame begins with eleven set bits; the two bits of the layer distinguish MP3 (III and II) from
 * AAC's ADTS (none). Layer I is left out: it is not used, and its frames begin like UTF-16 text.
 */
function detectMpegAudio([first = 0, second = 0]: Uint8Array): MediaFormat | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  if ((second & 0xf6) === 0xf0) return 'aac';
  const layer = second & 0x06;
  return layer === 0x02 || layer === 0x04 ? 'mp3' : null;
}

function matches(bytes: Uint8Array, offset: number, text: string): boolean {
  if (bytes.length < offset + text.length) return false;
  for (let i = 0; i < text.length; i++) {
    if (bytes[offset + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}

export const ASSETS_ACCESS = ['private', 'link'] as const;
/** Access to a generated file: only its owner, or the holder of the link in an answer. */
export type AssetsAccess = (typeof ASSETS_ACCESS)[number];
