/** Speech in the voice of a recording. */
import { useCell } from '../../../api/cell.js';
import { Fault } from '../../../api/fault.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { Field, Segments } from '../../../ui/form/field.js';
import { formatBytes } from '../../../ui/text/format.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { FileDrop, MAX_UPLOAD_BYTES } from '../file-drop.js';
import { change, keptCell } from '../kept-cell.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { RunFoot } from '../run-button.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';
import { ACCEPTED, RecordButton } from '../transcribe/transcribe.js';
import { FORMATS, SpokenList, withSpoken } from './speech.js';
import type { SpeechFormat, Spoken } from './speech.js';

interface State {
  readonly model: string;
  readonly text: string;
  /** What is said in the recording; empty lets the model find out. */
  readonly transcript: string;
  readonly format: SpeechFormat;
  readonly recording: File | null;
  readonly run: RunState;
  readonly spoken: readonly Spoken[];
}

const EMPTY: State = {
  model: '',
  text: '',
  transcript: '',
  format: 'wav',
  recording: null,
  run: IDLE,
  spoken: [],
};

const voice = keptCell(
  () => EMPTY,
  ({ spoken }) => spoken.map(({ url }) => url),
);

/** The feature of models that imitate a voice. */
const CLONING = 'voice-cloning';

export function Voice() {
  const all = useModels('tts');
  const list = all.list?.filter(({ features }) => features.includes(CLONING));
  const models = { ...all, list };
  const { model, spoken, run } = useCell(voice);
  useFirstModel(models, model, choose);
  useModelFromAddress(choose);
  return (
    <WithModels models={models} what="voice cloning">
      {(found) => (
        <div class="play halves">
          <VoiceForm list={found} />
          <SpokenList spoken={spoken} run={run} />
        </div>
      )}
    </WithModels>
  );
}

function choose(model: string): void {
  change(voice, { model });
}

function VoiceForm({ list }: { readonly list: readonly TryableModel[] }) {
  const { model, text, transcript, format, recording, run } = useCell(voice);
  return (
    <form
      class="form card"
      aria-label="Voice"
      onSubmit={(event) => {
        event.preventDefault();
        if (run.running === null) void speak();
      }}
    >
      <div class="row spread">
        <Segments
          label="Format"
          value={format}
          options={FORMATS}
          onValue={(next) => change(voice, { format: next })}
        />
        <CodeButton request={shownRequest} />
      </div>
      <ModelPicker models={list} value={model} onValue={choose} />
      <FileDrop
        icon="file-headphone"
        verb="Choose a recording"
        hint={recording?.name ?? 'Some seconds of the voice. Ask the person whose voice it is.'}
        accept={ACCEPTED}
        onFile={take}
      />
      <RecordButton onFile={take} />
      <TextArea
        label="What the recording says"
        hint="Optional: some models imitate better with it."
        rows={2}
        value={transcript}
        onValue={(next) => change(voice, { transcript: next })}
      />
      <TextArea
        label="Text"
        rows={5}
        value={text}
        onValue={(next) => change(voice, { text: next })}
      />
      <RunFoot
        running={run.running}
        fault={run.fault}
        icon="volume-2"
        verb="Speak"
        disabled={text.trim() === '' || recording === null}
      />
    </form>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly hint?: string;
  readonly rows: number;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function TextArea({ label, hint, rows, value, onValue }: TextAreaProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <textarea
          class="input"
          rows={rows}
          {...ids}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

function take(file: File): void {
  if (file.size <= MAX_UPLOAD_BYTES) return change(voice, { recording: file });
  const most = formatBytes(MAX_UPLOAD_BYTES);
  const message = `${file.name} has ${formatBytes(file.size)}; ${most} are allowed.`;
  return toastFault(new Fault(`${message} Some seconds of speech are enough.`));
}

function voiceRequest(state: State, recording: File): ApiRequest {
  const { model, text, transcript, format } = state;
  const told = transcript.trim();
  const body = {
    model,
    input: text,
    ...(told !== '' && { transcript: told }),
    response_format: format,
  };
  return {
    endpoint: 'voice',
    body,
    files: [{ field: 'file', name: recording.name, content: recording }],
  };
}

function shownRequest(): ApiRequest {
  return voiceRequest(voice.value, voice.value.recording ?? new File([], 'voice.wav'));
}

async function speak(): Promise<void> {
  const state = voice.value;
  if (state.recording === null) return;
  const answered = await timedRun(
    voiceRequest(state, state.recording),
    (response) => response.blob(),
    (run) => change(voice, { run }),
  );
  if (answered === null) return;
  const { result: sound, facts } = answered;
  const told = { text: state.text, voice: '', sound, facts };
  change(voice, { spoken: withSpoken(voice.value.spoken, told) });
}
