import { request } from '../../api/request.js';
import { addressOf } from '../../ui/markdown/media.js';
import type { Work } from '../../ui/work/work-name.js';

export const ASSETS = '/api/inference/assets';

/** As in `GET /api/inference/assets`. */
export interface Asset extends Work {
  readonly id: string;
  readonly content_type: string;
  readonly bytes: number;
  /** Length of a sound; null if unknown. */
  readonly seconds: number | null;
  readonly model: string;
  readonly endpoint: string;
  /** Both in Unix seconds. */
  readonly created: number;
  readonly expires_at: number;
}

/** Throws a `Fault`. */
export async function deleteAsset(id: string): Promise<void> {
  await request(addressOf({ id }), { method: 'DELETE' });
}

const NAMES: Readonly<Record<string, string>> = {
  '/v1/images/generations': 'Image',
  '/v1/images/edits': 'Edited image',
  '/v1/audio/speech': 'Speech',
  '/v1/voice/generations': 'Speech in a voice',
  '/v1/music/generations': 'Music',
  '/v1/videos/generations': 'Video',
};

/** The kind of thing that it is. */
export function kindName({ endpoint }: Asset): string {
  return NAMES[endpoint] ?? 'File';
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

/** The name under which the browser saves it. */
export function fileNameOf({ id, content_type: type }: Asset): string {
  const ending = ENDINGS[type.split(';', 1)[0] ?? ''];
  return ending === undefined ? id : `${id}.${ending}`;
}
