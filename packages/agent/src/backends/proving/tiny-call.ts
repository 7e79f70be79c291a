/** The smallest request of each type that shows whether a model does its work. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { LocalCall, LocalUpload } from '../backend.js';
import { frameWav } from '../../media/wav.js';
import { inPieces } from '../in-pieces.js';

/** All of a call but its end. */
export type TinyCall = Omit<LocalCall, 'signal'>;

/** New each time: its sound can be read once. */
export function tinyCall(type: ServiceType, model: AdvertisedModel): TinyCall {
  const { endpoint, fields, uploads } = TINY[type];
  return {
    endpoint,
    model,
    body: { model: model.id, ...fields },
    uploads: uploads?.() ?? [],
    requestId: 'test',
  };
}

interface Tiny {
  readonly endpoint: EndpointKey;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly uploads?: () => LocalUpload[];
}

const PROMPT = 'a red circle on white';

const TINY: Readonly<Record<ServiceType, Tiny>> = {
  llm: {
    endpoint: 'chat',
    // A stream, because its first word tells how long a model takes to begin.
    fields: { messages: [{ role: 'user', content: 'Say ok.' }], max_tokens: 16, stream: true },
  },
  stt: { endpoint: 'transcriptions', fields: { response_format: 'json' }, uploads: halfASecond },
  tts: { endpoint: 'speech', fields: { input: 'Hello.', response_format: 'wav' } },
  image: {
    endpoint: 'images',
    fields: { prompt: PROMPT, n: 1, size: '256x256', response_format: 'b64_json' },
  },
  video: { endpoint: 'videos', fields: { prompt: PROMPT, duration: 1, width: 256, height: 256 } },
  // ACE-Step makes no less than 10 s.
  music: { endpoint: 'music', fields: { prompt: 'a calm piano', audio_duration: 10 } },
};

const SAMPLE_RATE = 16_000;
const SAMPLES = SAMPLE_RATE / 2;
const HERTZ = 440;
const LOUDNESS = 6_000;

function halfASecond(): LocalUpload[] {
  const sound = wav();
  const read = (): AsyncIterable<Uint8Array> => inPieces(sound);
  return [{ name: 'file', contentType: 'audio/wav', bytes: sound.length, read }];
}

/** A tone: some servers refuse silence. */
function wav(): Buffer {
  const samples = Buffer.alloc(SAMPLES * 2);
  for (let i = 0; i < SAMPLES; i++) {
    const wave = Math.sin((2 * Math.PI * HERTZ * i) / SAMPLE_RATE);
    samples.writeInt16LE(Math.round(wave * LOUDNESS), i * 2);
  }
  return Buffer.concat([frameWav(SAMPLES, new Map(), SAMPLE_RATE).head, samples]);
}
