/** What the speech tab holds, and what its requests consist of. */
import type { ApiRequest } from '../call.js';
import { change, keptCell } from '../kept-cell.js';
import type { RunFacts } from '../run-facts.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';

export const FORMATS = [
  { value: 'wav', label: 'WAV' },
  { value: 'opus', label: 'Opus' },
] as const;

type SpeechFormat = (typeof FORMATS)[number]['value'];

export interface SpeechState {
  readonly model: string;
  readonly text: string;
  /** Empty: the model's own. */
  readonly voice: string;
  readonly format: SpeechFormat;
  readonly isAsync: boolean;
  readonly run: RunState;
  readonly spoken: readonly Spoken[];
}

export interface Spoken {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  /** A `blob:` address. */
  readonly url: string;
  readonly fileName: string;
  readonly facts: RunFacts;
}

/** Older ones are in the library. */
const MAX_SPOKEN = 20;

const EMPTY: SpeechState = {
  model: '',
  text: '',
  voice: '',
  format: 'wav',
  isAsync: false,
  run: IDLE,
  spoken: [],
};

export const speech = keptCell(
  () => EMPTY,
  ({ spoken }) => spoken.map(({ url }) => url),
);

export function changeSpeech(changes: Partial<SpeechState>): void {
  change(speech, changes);
}

export function speechRequest({ model, text, voice, format }: SpeechState): ApiRequest {
  const body = { model, input: text, ...(voice !== '' && { voice }), response_format: format };
  return { endpoint: 'speech', body };
}

export async function speak(): Promise<void> {
  const state = speech.value;
  const answered = await timedRun(
    speechRequest(state),
    (response) => response.blob(),
    (run) => changeSpeech({ run }),
  );
  if (answered === null) return;
  const { result: sound, facts } = answered;
  const { spoken } = speech.value;
  const one: Spoken = {
    id: (spoken[0]?.id ?? 0) + 1,
    text: state.text,
    voice: state.voice,
    url: URL.createObjectURL(sound),
    // The type tells the truth where the format could not be had.
    fileName: sound.type.includes('ogg') ? 'speech.ogg' : 'speech.wav',
    facts,
  };
  changeSpeech({ spoken: [one, ...spoken].slice(0, MAX_SPOKEN) });
}
