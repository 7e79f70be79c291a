/** Generated files, shown by type. */
import './media.css';

export interface MediaFile {
  readonly id: string;
  readonly content_type: string;
}

/** Always on this origin, not on the public address: the cookie is sent to this origin only. */
export function addressOf({ id }: Pick<MediaFile, 'id'>): string {
  return `/api/inference/assets/${encodeURIComponent(id)}/`;
}

export type MediaKind = 'picture' | 'sound' | 'film' | 'other';

export function kindOf({ content_type: type }: MediaFile): MediaKind {
  if (type.startsWith('image/')) return 'picture';
  if (type.startsWith('audio/')) return 'sound';
  return type.startsWith('video/') ? 'film' : 'other';
}

interface MediaProps {
  readonly file: MediaFile;
  /** Text alternative. */
  readonly label: string;
  /** For lists of many files: loads nothing before the file is visible or played. */
  readonly lazy?: boolean;
}

export function Media({ file, label, lazy = false }: MediaProps) {
  const src = addressOf(file);
  const preload = lazy ? 'none' : 'metadata';
  switch (kindOf(file)) {
    case 'picture':
      return (
        <img
          class="media"
          src={src}
          alt={label}
          loading={lazy ? 'lazy' : 'eager'}
          decoding="async"
        />
      );
    case 'sound':
      return <audio class="media" controls preload={preload} src={src} aria-label={label} />;
    case 'film':
      return <video class="media" controls preload={preload} src={src} aria-label={label} />;
    case 'other':
      return <a href={src}>{label}</a>;
  }
}
