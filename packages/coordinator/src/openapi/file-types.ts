/** Raw bytes of files as the content of an answer. */
import { contentTypeOf, PCM } from '@inference-gateway/shared/media/types';
import type { MediaFamily, MediaFormat } from '@inference-gateway/shared/media/types';
import type { Content, MediaType } from './open-api.js';

const FORMATS: Readonly<Record<MediaFamily, readonly MediaFormat[]>> = {
  image: ['png', 'jpeg', 'webp'],
  audio: ['wav', 'ogg', 'mp3', 'aac', 'flac', 'mp4', 'webm'],
  video: ['mp4', 'webm'],
};

const BYTES: MediaType = { schema: { type: 'string', format: 'binary' } };

/** Every content type in which a file of these families may come. */
export function fileTypes(...families: readonly MediaFamily[]): Content {
  const types = families.flatMap((family) =>
    FORMATS[family].map((format) => contentTypeOf(format, family) ?? format),
  );
  const all = families.includes('audio') ? [...types, PCM] : types;
  return Object.fromEntries(all.map((type) => [type, BYTES]));
}
