/**
 * The differences between endpoint kinds in the agent: how an answer's text is written, and which
 * request proves a model.
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
  /** Null if an answer is not a model's text. */
  readonly wire: TextWire | null;
  /** Null if models are proven by another endpoint of their type. */
  readonly proof: Proof | null;
}

/** The smallest request that proves that a model works. */
export interface Proof {
  /** All fields but `model`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** New for each call: a file can be read only once. */
  readonly uploads?: () => LocalUpload[];
  /** Whether a JSON answer, or an event, contains a result; `tokens` is the server's count. */
  readonly isWhole: (document: unknown, tokens: number | null) => boolean;
}

const PROMPT = 'a red circle on white';

/** The answer is files, not JSON. */
const isWhole = (): boolean => false;

export const SERVED_KINDS: Readonly<Record<EndpointKind, ServedKind>> = {
  chat: {
    wire: CHAT_WIRE,
    proof: {
      // A stream: its first token shows how long a model takes to begin.
      fields: { messages: [{ role: 'user', content: 'Say ok.' }], max_tokens: 16, stream: true },
      isWhole: (document, tokens) => hasWords(document) || hasTokens(tokens),
    },
  },
  count: { wire: null, proof: null },
  completion: { wire: COMPLETION_WIRE, proof: null },
  transcript: {
    wire: null,
    proof: {
      fields: { response_format: 'json' },
      uploads: halfASecond,
      // For half a second without speech an empty transcript is correct.
      isWhole: (document) => transcript.safeParse(document).success,
    },
  },
  translation: { wire: null, proof: null },
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
    // ACE-Step's minimum is 10 s.
    proof: { fields: { prompt: 'a calm piano', audio_duration: 10 }, isWhole },
  },
  embeddings: {
    wire: null,
    proof: {
      fields: { input: 'ok', encoding_format: 'float' },
      // Zeros are what a server makes of a model that makes none.
      isWhole: (document) => {
        const [first] = vectors.safeParse(document).data?.data ?? [];
        return first?.embedding.some((number) => number !== 0) ?? false;
      },
    },
  },
  rerank: {
    wire: null,
    proof: {
      fields: { query: 'ok', documents: ['ok', 'no'] },
      isWhole: (document) => ranking.safeParse(document).success,
    },
  },
};

const vectors = z.object({ data: z.array(z.object({ embedding: z.array(z.number()).min(1) })) });
const ranking = z.object({ results: z.array(z.object({ relevance_score: z.number() })).min(1) });

export interface Tried {
  readonly endpoint: EndpointKey;
  readonly proof: Proof;
}

/** The first endpoint that can prove models of this type. */
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

/** In any field that servers use: content, reasoning, a tool call. */
function hasWords(document: unknown): boolean {
  const said = choices.safeParse(document).data?.choices ?? [];
  return said.some(({ delta, message }) =>
    Object.entries({ ...delta, ...message }).some(([name, value]) => {
      const isText = typeof value === 'string' || Array.isArray(value);
      return name !== 'role' && isText && value.length > 0;
    }),
  );
}

/** Some servers do not return reasoning: with so few tokens the answer may be empty. */
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

/** A tone, because some servers refuse silence. */
function wav(): Buffer {
  const samples = Buffer.alloc(SAMPLES * 2);
  for (let i = 0; i < SAMPLES; i++) {
    const wave = Math.sin((2 * Math.PI * HERTZ * i) / SAMPLE_RATE);
    samples.writeInt16LE(Math.round(wave * LOUDNESS), i * 2);
  }
  return Buffer.concat([frameWav(SAMPLES, new Map(), SAMPLE_RATE).head, samples]);
}
