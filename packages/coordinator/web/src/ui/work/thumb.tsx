/** A small picture of a file in a row: the picture itself, the wave of a sound, or an icon. */
import type { Job } from '../../api/jobs.js';
import { Icon } from '../button/icon.js';
import { addressOf, kindOf } from '../markdown/media.js';
import type { MediaFile, MediaKind } from '../markdown/media.js';
import { Waveform } from './waveform.js';
import './work.css';

export interface ThumbFile {
  readonly id: string;
  readonly kind: MediaKind;
}

/** The edge of a picture, in CSS pixels. */
const EDGE = 40;

export function Thumb({ file, name }: { readonly file: ThumbFile; readonly name: string }) {
  switch (file.kind) {
    case 'picture':
      return (
        <img
          class="thumb"
          src={addressOf(file)}
          alt={name}
          width={EDGE}
          height={EDGE}
          loading="lazy"
          decoding="async"
        />
      );
    case 'sound':
      return (
        <span class="thumb wide">
          <Waveform id={file.id} label={`The wave of ${name}`}>
            <Icon name="audio-lines" />
          </Waveform>
        </span>
      );
    case 'film':
      return (
        <span class="thumb">
          <Icon name="film" />
        </span>
      );
    case 'other':
      return null;
  }
}

const KINDS: Readonly<Partial<Record<Job['inference_type'], MediaKind>>> = {
  IMAGE: 'picture',
  TTS: 'sound',
  MUSIC: 'sound',
  VIDEO: 'film',
};

type Made = Pick<Job, 'inference_type' | 'result_url'>;

/** The first file of a job; null if it has none. */
export function fileOfJob({ inference_type: type, result_url: url }: Made): ThumbFile | null {
  const id = url === undefined ? undefined : /\/assets\/([^/?]+)/.exec(url)?.[1];
  const kind = KINDS[type];
  return id === undefined || kind === undefined ? null : { id, kind };
}

export function thumbOf(file: MediaFile): ThumbFile {
  return { id: file.id, kind: kindOf(file) };
}
