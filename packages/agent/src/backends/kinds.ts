/**
 * What differs between the kinds of endpoints in the agent: how the text of an answer is written,
 * and by which request a model is tried.
 */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, EndpointKind, ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { frameWav } from '../media/wav.js';
import { CHAT_WIRE, COMPLETION_WIRE } from '../openai-wire/answer-form.js';
import type { TextWire } from '../openai-wire/answer-form.js';
import type { LocalUpload } from './backend.js';
import { inPieces } from './bytes.js';

export interface ServedKind {
  /** Null where an answer is no text of a model. */
  readonly wire: TextWire | null;
  /** Null where models are tried by another endpoint of their type. */
  readonly proof: Proof | null;
}

/** The smallest request that shows whether a model does its work. */
export interface Proof {
  /** Beside the model. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Made new each time: a file can be read once. */
  readonly uploads?: () => LocalUpload[];
  /** Of an answer in JSON, or of an event, whether it has a result; `tokens` as it counts them. */
  readonly isWhole: (document: unknown, tokens: number | null) => boolean;
}

const PROMPT = 'a red circle on white';

/** Files are answered, and no JSON. */
const isWhole = (): boolean => false;

export const SERVED_KINDS: Readonly<Record<EndpointKind, ServedKind>> = {
  chat: {
    wire: CHAT_WIRE,
    proof: {
      // A stream, because its first word tells how long a model takes to begin.
      fields: { messages: [{ role: 'user', content: 'Say ok.' }], max_tokens: 16, stream: true },
      isWhole: (document, tokens) => hasWords(document) || hasTokens(tokens),
    },
  },
  completion: { wire: COMPLETION_WIRE, proof: null },
  transcript: {
    wire: null,
    proof: {
      fields: { response_format: 'json' },
      uploads: halfASecond,
      // Of half a second without a word, an empty transcript is the right one.
      isWhole: (document) => transcript.safeParse(document).success,
    },
  },
  voices: { wire: null, proof: null },
  images: {
    wire: null,
    proof: {
      fields: { prompt: PROMPT, n: 1, size: '256x256', response_format: 'b64_json' },
      isWhole,
    },
  },
  speech: {
    wire: null,
    proof: { fields: { input: 'Hello.', response_format: 'wav' }, isWhole },
  },
  film: {
    wire: null,
    proof: { fields: { prompt: PROMPT, duration: 1, width: 256, height: 256 }, isWhole },
  },
  music: {
    wire: null,
    // ACE-Step makes no less than 10 s.
    proof: { fields: { prompt: 'a calm piano', audio_duration: 10 }, isWhole },
  },
};

export interface Tried {
  readonly endpoint: EndpointKey;
  readonly proof: Proof;
}

/** The first endpoint that can show it of models of this type. */
export function triedBy(type: ServiceType): Tried {
  for (const endpoint of ENDPOINT_KEYS) {
    const { serviceType, kind } = ENDPOINTS[endpoint];
    const { proof } = SERVED_KINDS[kind];
    if (serviceType === type && proof !== null) return { endpoint, proof };
  }
  throw new Error(`no endpoint tries a model of type ${type}`);
}

const transcript = z.object({ text: z.string() });

const spoken = z.record(z.string(), z.unknown());

const choices = z.object({
  choices: z.array(z.object({ delta: spoken.optional(), message: spoken.optional() })).min(1),
});

/** Whatever a server calls them: content, reasoning, a call of a tool. */
function hasWords(document: unknown): boolean {
  const said = choices.safeParse(document).data?.choices ?? [];
  return said.some(({ delta, message }) =>
    Object.entries({ ...delta, ...message }).some(([name, value]) => {
      const isText = typeof value === 'string' || Array.isArray(value);
      return name !== 'role' && isText && value.length > 0;
    }),
  );
}

/** Some servers keep what a model thinks to themselves: of so few tokens nothing may be left. */
function hasTokens(tokens: number | null): boolean {
  return tokens !== null && tokens > 0;
}

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
