/** The requests for music and videos, with the limits of the API. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ModelType } from '../models.js';

interface TextInput {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly rows: number;
}

interface NumberInput {
  readonly name: string;
  readonly label: string;
  readonly min?: number;
  readonly max?: number;
  readonly step: number | 'any';
}

export interface GenerationKind {
  readonly type: ModelType;
  readonly endpoint: EndpointKey;
  readonly icon: string;
  readonly title: string;
  /** What such a model is used for. */
  readonly what: string;
  readonly empty: string;
  readonly texts: readonly TextInput[];
  readonly numbers: readonly NumberInput[];
  /** Whether a picture may be its beginning. */
  readonly takesPicture: boolean;
}

const SEED: NumberInput = { name: 'seed', label: 'Seed', step: 1 };

export const MUSIC: GenerationKind = {
  type: 'music',
  endpoint: 'music',
  icon: 'music',
  title: 'Music',
  what: 'music',
  empty: 'No music yet.',
  texts: [
    { name: 'prompt', label: 'Prompt', placeholder: 'Slow jazz with a double bass', rows: 3 },
    { name: 'lyrics', label: 'Lyrics', placeholder: 'Optional', rows: 5 },
  ],
  numbers: [{ name: 'audio_duration', label: 'Seconds', min: 1, max: 600, step: 'any' }, SEED],
  takesPicture: false,
};

export const VIDEO: GenerationKind = {
  type: 'video',
  endpoint: 'videos',
  icon: 'film',
  title: 'Video',
  what: 'videos',
  empty: 'No videos yet.',
  texts: [
    { name: 'prompt', label: 'Prompt', placeholder: 'Waves on a beach at night', rows: 3 },
    { name: 'negative_prompt', label: 'Not in it', placeholder: 'Optional', rows: 2 },
  ],
  numbers: [
    { name: 'duration', label: 'Seconds', min: 1, max: 600, step: 'any' },
    { name: 'fps', label: 'Pictures a second', min: 1, max: 120, step: 1 },
    { name: 'width', label: 'Width', min: 64, max: 4_096, step: 1 },
    { name: 'height', label: 'Height', min: 64, max: 4_096, step: 1 },
    { name: 'num_inference_steps', label: 'Steps', min: 1, max: 1_000, step: 1 },
    { name: 'guidance_scale', label: 'Guidance', min: 0, max: 100, step: 'any' },
    SEED,
  ],
  takesPicture: true,
};

interface Typed {
  readonly model: string;
  readonly values: Readonly<Record<string, string>>;
  /** A `data:` URL. */
  readonly picture: string | null;
}

/** Empty fields are left to the model. The answer names the file in the library. */
export function generationBody(
  { texts, numbers }: GenerationKind,
  { model, values, picture }: Typed,
): Readonly<Record<string, unknown>> {
  const typed = (name: string): string => values[name]?.trim() ?? '';
  const isNumber = ({ name }: NumberInput): boolean =>
    typed(name) !== '' && Number.isFinite(Number(typed(name)));
  const set = texts.filter(({ name }) => typed(name) !== '');
  return {
    model,
    ...Object.fromEntries(set.map(({ name }) => [name, typed(name)])),
    ...Object.fromEntries(numbers.filter(isNumber).map(({ name }) => [name, Number(typed(name))])),
    ...(picture !== null && { image: picture }),
    response_format: 'url',
  };
}
