import { useCell } from '../../../api/cell.js';
import { Fault } from '../../../api/fault.js';
import { TextField } from '../../../ui/form/field.js';
import { formatBytes } from '../../../ui/text/format.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { FaultNote } from '../fault-note.js';
import { FileDrop, MAX_UPLOAD_BYTES } from '../file-drop.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { RunButton } from '../run-button.js';
import { useModelFromAddress } from '../model-from-address.js';
import { HeardView } from './heard-view.js';
import { RecordButton } from './record-button.js';
import { changeTranscription, setSound, transcribe } from './transcribe-state.js';
import { transcription, transcriptionRequest } from './transcribe-state.js';

const ACCEPTED = '.wav,.mp3,.m4a,.mp4,.flac,.ogg,.oga,.opus,.webm,audio/*';

const LANGUAGE = 'Two letters, such as en; empty lets the model find out.';

export function Transcribe() {
  const models = useModels('stt');
  useFirstModel(models, useCell(transcription).model, choose);
  useModelFromAddress(choose);
  return (
    <WithModels models={models} what="transcriptions">
      {(list) => (
        <div class="play halves">
          <SoundForm list={list} />
          <HeardView />
        </div>
      )}
    </WithModels>
  );
}

function choose(model: string): void {
  changeTranscription({ model });
}

function SoundForm({ list }: { readonly list: readonly TryableModel[] }) {
  const { model, language, sound, run } = useCell(transcription);
  const hasTimes = list.find(({ id }) => id === model)?.features.includes('timestamps') ?? false;
  return (
    <form
      class="form card"
      aria-label="Recording"
      onSubmit={(event) => {
        event.preventDefault();
        if (run.running === null) void transcribe(hasTimes);
      }}
    >
      <div class="row spread">
        <h2>Recording</h2>
        <CodeButton request={() => shownRequest(hasTimes)} />
      </div>
      <ModelPicker models={list} value={model} onValue={choose} />
      <FileDrop
        icon="file-audio"
        verb="Choose a file"
        hint={
          sound === null
            ? 'Drop WAV, MP3, M4A, FLAC, Ogg or WebM here, or record.'
            : sound.file.name
        }
        accept={ACCEPTED}
        onFile={take}
      />
      <RecordButton onFile={take} />
      <TextField
        label="Language"
        hint={hasTimes ? LANGUAGE : `${LANGUAGE} This model tells no times.`}
        maxLength={8}
        value={language}
        onValue={(next) => changeTranscription({ language: next.trim() })}
      />
      {run.fault !== null && <FaultNote fault={run.fault} />}
      <div class="row">
        <RunButton
          running={run.running}
          icon="audio-lines"
          verb="Transcribe"
          disabled={sound === null}
        />
      </div>
    </form>
  );
}

function take(file: File): void {
  if (file.size <= MAX_UPLOAD_BYTES) return setSound(file);
  const most = formatBytes(MAX_UPLOAD_BYTES);
  const size = formatBytes(file.size);
  const message = `${file.name} has ${size}; ${most} are allowed. Send it in parts.`;
  return toastFault(new Fault(message));
}

function shownRequest(hasTimes: boolean): ApiRequest {
  const { sound } = transcription.value;
  const file = sound?.file ?? new File([], 'speech.wav');
  return transcriptionRequest(transcription.value, { file, hasTimes });
}
