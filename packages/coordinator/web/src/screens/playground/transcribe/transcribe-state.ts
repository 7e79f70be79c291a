/** The state of the transcription tab, and its requests. */
import type { ApiRequest } from '../call.js';
import { change, keptCell } from '../kept-cell.js';
import type { RunFacts } from '../run-facts.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';
import { readTranscript } from './transcript.js';
import type { Transcript } from './transcript.js';

export interface TranscribeState {
  readonly model: string;
  readonly language: string;
  readonly sound: Sound | null;
  readonly run: RunState;
  readonly heard: { readonly transcript: Transcript; readonly facts: RunFacts } | null;
}

interface Sound {
  readonly file: File;
  /** A `blob:` URL of the file. */
  readonly url: string;
}

const EMPTY: TranscribeState = { model: '', language: '', sound: null, run: IDLE, heard: null };

export const transcription = keptCell(
  () => EMPTY,
  ({ sound }) => (sound === null ? [] : [sound.url]),
);

export function changeTranscription(changes: Partial<TranscribeState>): void {
  change(transcription, changes);
}

export function setSound(file: File): void {
  const next = { file, url: URL.createObjectURL(file) };
  changeTranscription({ sound: next, heard: null, run: IDLE });
}

/**
 * Timestamps are requested only from models that support them: from others the whole answer would
 * be plain text.
 */
export function transcriptionRequest(
  { model, language }: Pick<TranscribeState, 'model' | 'language'>,
  { file, hasTimes }: { readonly file: File; readonly hasTimes: boolean },
): ApiRequest {
  const times = { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] };
  const body = {
    model,
    ...(language !== '' && { language }),
    ...(hasTimes && times),
  };
  return {
    endpoint: 'transcriptions',
    body,
    files: [{ field: 'file', name: file.name, content: file }],
  };
}

export async function transcribe(hasTimes: boolean): Promise<void> {
  const { sound } = transcription.value;
  if (sound === null) return;
  changeTranscription({ heard: null });
  const { file } = sound;
  const answered = await timedRun(
    transcriptionRequest(transcription.value, { file, hasTimes }),
    async (response) =>
      readTranscript((await response.json()) as Parameters<typeof readTranscript>[0]),
    (run) => changeTranscription({ run }),
  );
  if (answered === null || transcription.value.sound !== sound) return;
  changeTranscription({ heard: { transcript: answered.result, facts: answered.facts } });
}
