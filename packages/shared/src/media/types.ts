/**
 * Audio, images and video are known by their first bytes alone: neither a file's name nor a content
 * type that somebody claims saves or condemns one.
 */

export type MediaFamily = 'audio' | 'image' | 'video';

/** A container, by the name that its files usually end in. */
export type MediaFormat = keyof typeof FORMATS;

/** As many bytes as `detectFormat` looks at. */
export const DETECT_BYTES = 12;

/** A content type for each family of which a container may hold something. */
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

/** Null if the bytes begin none of these formats. */
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

/** The content type of such a file, where the format can hold this family; null if not. */
export function contentTypeOf(format: MediaFormat, family: MediaFamily): string | null {
  const types: Partial<Record<MediaFamily, string>> = FORMATS[format];
  return types[family] ?? null;
}

/** The format that has this content type, or null. */
export function formatOf(contentType: string): MediaFormat | null {
  const formats = Object.entries(FORMATS) as [MediaFormat, Partial<Record<MediaFamily, string>>][];
  return formats.find(([, types]) => Object.values(types).includes(contentType))?.[0] ?? null;
}

/** The usual ending of such a file, without the dot; `bin` where the content type is unknown. */
export function extensionOf(contentType: string): string {
  if (contentType === PCM) return 'pcm';
  return contentType === 'audio/mp4' ? 'm4a' : (formatOf(contentType) ?? 'bin');
}

/** Bare samples: the one kind of audio that no first byte gives away. */
export const PCM = 'audio/pcm';

/**
 * Eleven set bits begin a frame; the two bits of the layer tell MP3 (III and II) from AAC's ADTS
 * (none). Layer I is left out: nobody uses it, and its frames begin as UTF-16 text does.
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
/** Who may fetch a generated file: its owner alone, or whoever holds the link in an answer. */
export type AssetsAccess = (typeof ASSETS_ACCESS)[number];
