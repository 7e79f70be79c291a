/** Recording in the browser, and what to do where it is not let. */
import { Fault } from '../../../api/fault.js';

export interface Recording {
  /** Ends it and resolves to what was recorded. */
  stop(): Promise<File>;
}

/** Whoever forgets it is not recorded all day, and nobody has to cut what is too long to send. */
export const MAX_RECORDING_MS = 30 * 60_000;
/** Enough for speech: the longest recording has 14 MB, well below the largest upload. */
const BITS_A_SECOND = 64_000;

/** Of those that every browser makes one of. */
const TYPES = [
  { type: 'audio/webm', ending: 'webm' },
  { type: 'audio/mp4', ending: 'm4a' },
  { type: 'audio/ogg', ending: 'ogg' },
] as const;

/** Throws a `Fault` that says how the microphone is had, or what to do without. */
export async function startRecording(): Promise<Recording> {
  // Browsers hide it from pages that are not secure; the types of TypeScript do not know this.
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
