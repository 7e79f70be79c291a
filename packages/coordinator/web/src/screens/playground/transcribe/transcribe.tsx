import { useEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Fault } from '../../../api/fault.js';
import { TextField } from '../../../ui/form/field.js';
import { formatBytes, formatMs } from '../../../ui/text/format.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { useAct } from '../../../ui/form/act.js';
import { Button } from '../../../ui/button/button.js';
import { FaultText } from '../../../ui/table/states.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { FileDrop, MAX_UPLOAD_BYTES } from '../file-drop.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { RunFoot } from '../run-button.js';
import { useSeconds } from '../use-seconds.js';
import { HeardView } from './heard-view.js';
import { changeTranscription, setSound, transcribe } from './transcribe-state.js';
import { transcription, transcriptionRequest } from './transcribe-state.js';
import { clock } from './transcript.js';

export const ACCEPTED = '.wav,.mp3,.m4a,.mp4,.flac,.ogg,.oga,.opus,.webm,audio/*';

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
        icon="file-headphone"
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
      <RunFoot
        running={run.running}
        fault={run.fault}
        icon="audio-lines"
        verb="Transcribe"
        disabled={sound === null}
      />
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

/** Records from the microphone. */
export function RecordButton({ onFile }: { readonly onFile: (file: File) => void }) {
  const [recording, setRecording] = useState<Recording | null>(null);
  const running = useRef<Recording | null>(null);
  running.current = recording;
  const isGone = useRef(false);
  // Stops the recording when the member leaves the tab.
  useEffect(
    () => () => {
      isGone.current = true;
      void running.current?.stop();
    },
    [],
  );
  const [isCut, setCut] = useState(false);
  const act = useAct(async () => {
    setCut(false);
    const started = await startRecording();
    // The browser asks for permission first; the member may have left the tab meanwhile.
    if (isGone.current) await started.stop();
    else setRecording(started);
  });
  const stop = async (): Promise<void> => {
    if (recording === null) return;
    setRecording(null);
    onFile(await recording.stop());
  };
  useEffect(() => {
    if (recording === null) return undefined;
    const timer = setTimeout(() => {
      setCut(true);
      void stop();
    }, MAX_RECORDING_MS);
    return () => clearTimeout(timer);
  }, [recording]);
  return (
    <div class="stack tight">
      <div class="row">
        {recording === null ? (
          <Button icon="mic" busy={act.isBusy} onClick={() => void act.run()}>
            Record
          </Button>
        ) : (
          <>
            <Button icon="square" tone="danger" onClick={() => void stop()}>
              Stop recording
            </Button>
            <Seconds />
          </>
        )}
      </div>
      {isCut && (
        <p class="soft small" role="status">
          The recording has ended by itself after {formatMs(MAX_RECORDING_MS)}. Record the rest as
          another one.
        </p>
      )}
      <FaultText fault={act.fault} />
    </div>
  );
}

function Seconds() {
  return <span class="soft">{clock(useSeconds())}</span>;
}

// Recording in the browser, and the messages if it is not possible.
interface Recording {
  /** Ends the recording and resolves to its file. */
  stop(): Promise<File>;
}

/** Ends a forgotten recording, before it becomes too large to be sent. */
const MAX_RECORDING_MS = 30 * 60_000;

/** Enough for speech: the longest recording has 14 MB, well below the upload limit. */
const BITS_A_SECOND = 64_000;

/** Every browser supports at least one of them. */
const TYPES = [
  { type: 'audio/webm', ending: 'webm' },
  { type: 'audio/mp4', ending: 'm4a' },
  { type: 'audio/ogg', ending: 'ogg' },
] as const;

/** Throws a `Fault` that says how to permit the microphone, or what to do without it. */
async function startRecording(): Promise<Recording> {
  // Browsers hide it on insecure pages; TypeScript's types do not say so.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  if (devices === undefined || typeof MediaRecorder === 'undefined') throw refusal(NOT_SECURE);
  const stream = await devices.getUserMedia({ audio: true }).catch((error: unknown) => {
    const name = error instanceof DOMException ? error.name : '';
    throw refusal(REFUSALS[name] ?? OTHERWISE);
  });
  const kind = TYPES.find(({ type }) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, {
    audioBitsPerSecond: BITS_A_SECOND,
    ...(kind !== undefined && { mimeType: kind.type }),
  });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
  recorder.start();
  return {
    stop: () =>
      new Promise((done) => {
        recorder.addEventListener('stop', () => {
          for (const track of stream.getTracks()) track.stop();
          const type = kind?.type ?? recorder.mimeType;
          done(new File(parts, `recording.${kind?.ending ?? 'webm'}`, { type }));
        });
        recorder.stop();
      }),
  };
}

function refusal(message: string): Fault {
  return new Fault(message, { code: 'microphone' });
}

const NOT_SECURE =
  'Browsers give the microphone to secure pages only. Open this page over https or as localhost, ' +
  'or upload a file.';

const OTHERWISE =
  'The microphone cannot be used. Close other programs that hold it, or upload a file.';

const REFUSALS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'This page may not use the microphone. Allow it beside the address in your browser and ' +
    'record again, or upload a file.',
  NotFoundError: 'No microphone was found. Plug one in and record again, or upload a file.',
};
