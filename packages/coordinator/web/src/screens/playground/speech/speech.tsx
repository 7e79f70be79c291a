import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Field, Segments, SelectField } from '../../../ui/form/field.js';
import { Empty } from '../../../ui/table/states.js';
import { LinkButton } from '../../../ui/button/button.js';
import { asJob, read } from '../call.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { shownOf } from '../run-facts.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { AsyncSwitch, useJobAct } from '../run-as-job.js';
import { RunFoot } from '../run-button.js';
import { RunFactsRow } from '../run-facts-row.js';
import { change, keptCell } from '../kept-cell.js';
import type { RunFacts } from '../run-facts.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';

export function Speech() {
  const models = useModels('tts');
  const { model, spoken, run } = useCell(speech);
  useFirstModel(models, model, choose);
  useModelFromAddress(choose);
  return (
    <WithModels models={models} what="speech">
      {(list) => (
        <div class="play halves">
          <SpeechForm list={list} />
          <SpokenList spoken={spoken} run={run} />
        </div>
      )}
    </WithModels>
  );
}

/** Another model has other voices, so the voice is reset. */
function choose(model: string): void {
  changeSpeech({ model, voice: '' });
}

function SpeechForm({ list }: { readonly list: readonly TryableModel[] }) {
  const { model, text, format, isAsync, run } = useCell(speech);
  const job = useJobAct();
  const fault = job.fault === null ? run.fault : shownOf(job.fault);
  return (
    <form
      class="form card"
      aria-label="Speech"
      onSubmit={(event) => {
        event.preventDefault();
        if (isAsync) void job.run(speechRequest(speech.value));
        else if (run.running === null) void speak();
      }}
    >
      <div class="row spread">
        <Segments
          label="Format"
          value={format}
          options={FORMATS}
          onValue={(next) => changeSpeech({ format: next })}
        />
        <CodeButton request={shownRequest} />
      </div>
      <ModelPicker models={list} value={model} onValue={choose} />
      <VoicePicker model={model} />
      <Field label="Text">
        {(ids) => (
          <textarea
            class="input"
            rows={6}
            {...ids}
            value={text}
            placeholder="The text to speak."
            onInput={({ currentTarget }) => changeSpeech({ text: currentTarget.value })}
          />
        )}
      </Field>
      <AsyncSwitch checked={isAsync} onChecked={(on) => changeSpeech({ isAsync: on })} />
      <RunFoot
        running={run.running}
        fault={fault}
        icon="volume-2"
        verb={isAsync ? 'Submit the job' : 'Speak'}
        disabled={text.trim() === ''}
        busy={job.isBusy}
      />
    </form>
  );
}

function shownRequest(): ApiRequest {
  const request = speechRequest(speech.value);
  return speech.value.isAsync ? asJob(request) : request;
}

function VoicePicker({ model }: { readonly model: string }) {
  const { voice } = useCell(speech);
  const voices = useVoices(model);
  const own = { value: '', label: 'The model’s own' };
  return (
    <SelectField
      label="Voice"
      value={voice}
      options={[own, ...voices.map((name) => ({ value: name, label: name }))]}
      disabled={voices.length === 0}
      onValue={(next) => changeSpeech({ voice: next })}
    />
  );
}

/** Empty until they are known, and if the model lists none. */
function useVoices(model: string): readonly string[] {
  const [voices, setVoices] = useState<readonly string[]>([]);
  useEffect(() => {
    setVoices([]);
    if (model === '') return undefined;
    let isWanted = true;
    read<{ readonly voices: readonly string[] }>(`/audio/voices?model=${encodeURIComponent(model)}`)
      .then((answer) => isWanted && setVoices(answer.voices))
      // The model is no longer online, as its picker shows.
      .catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [model]);
  return voices;
}

/** What was spoken, the newest first. */
export function SpokenList({ spoken, run }: Pick<SpeechState, 'spoken' | 'run'>) {
  if (spoken.length === 0 && run.running === null) {
    const text = 'What is spoken appears here, and is kept in your library.';
    return <Empty icon="audio-lines" title="Nothing spoken yet." text={text} />;
  }
  return (
    <section class="stack" aria-label="Spoken" aria-busy={run.running !== null}>
      {run.running !== null && <p class="skeleton row" role="status" aria-label="Under way" />}
      {spoken.map((one) => (
        <SpokenView key={one.id} spoken={one} />
      ))}
    </section>
  );
}

function SpokenView({ spoken }: { readonly spoken: Spoken }) {
  const { text, voice, url, fileName, facts } = spoken;
  return (
    <article class="card stack" aria-label={text}>
      <p class="plain-text clamped">
        {text} {voice !== '' && <span class="soft mono small">{voice}</span>}
      </p>
      <audio controls src={url} aria-label="What was spoken" />
      <div>
        <LinkButton small icon="download" href={url} download={fileName}>
          Download
        </LinkButton>
      </div>
      <RunFactsRow facts={facts} />
    </article>
  );
}

// The state of the speech tab, and its requests.

export const FORMATS = [
  { value: 'wav', label: 'WAV' },
  { value: 'opus', label: 'Opus' },
] as const;

export type SpeechFormat = (typeof FORMATS)[number]['value'];

interface SpeechState {
  readonly model: string;
  readonly text: string;
  /** Empty: the model's default. */
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
  /** A `blob:` URL. */
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

const speech = keptCell(
  () => EMPTY,
  ({ spoken }) => spoken.map(({ url }) => url),
);

function changeSpeech(changes: Partial<SpeechState>): void {
  change(speech, changes);
}

function speechRequest({ model, text, voice, format }: SpeechState): ApiRequest {
  const body = { model, input: text, ...(voice !== '' && { voice }), response_format: format };
  return { endpoint: 'speech', body };
}

async function speak(): Promise<void> {
  const state = speech.value;
  const answered = await timedRun(
    speechRequest(state),
    (response) => response.blob(),
    (run) => changeSpeech({ run }),
  );
  if (answered === null) return;
  const { text, voice } = state;
  const { result: sound, facts } = answered;
  changeSpeech({ spoken: withSpoken(speech.value.spoken, { text, voice, sound, facts }) });
}

interface NewlySpoken extends Pick<Spoken, 'text' | 'voice' | 'facts'> {
  readonly sound: Blob;
}

export function withSpoken(
  spoken: readonly Spoken[],
  { sound, ...told }: NewlySpoken,
): readonly Spoken[] {
  const id = (spoken[0]?.id ?? 0) + 1;
  // The content type decides, because the server may have sent another format than requested.
  const fileName = sound.type.includes('ogg') ? 'speech.ogg' : 'speech.wav';
  const one = { ...told, id, url: URL.createObjectURL(sound), fileName };
  return [one, ...spoken].slice(0, MAX_SPOKEN);
}
