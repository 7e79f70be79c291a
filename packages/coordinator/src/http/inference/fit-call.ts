/**
 * Fits a call to the available models: its requirements of a provider, and the fallback or error if
 * no provider has exactly what was requested.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { formatOf } from '@inference-gateway/shared/media/types';
import { nearest } from '@inference-gateway/shared/nearest';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { mayTake, NO_NEEDS } from '../../core/routing/match.js';
import type { Needs } from '../../core/routing/match.js';
import { inputNotTaken } from '../../run/absence.js';
import { wellFormed } from '../answers/answer.js';
import type { TranscriptForm } from '../answers/transcript.js';
import { mediaIn } from '../bodies/judge-body.js';
import type { ReadCall } from './read-call.js';

export interface FittedCall {
  /** The body for the provider. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly needs: Needs;
  /** Headers that tell the caller about it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of transcriptions. */
  readonly transcript: Omit<TranscriptForm, 'seconds'>;
}

/** Every voice that one of the models has. */
export function voicesOf(models: readonly AdvertisedModel[]): string[] {
  return [...new Set(models.flatMap(({ voices = [] }) => voices))];
}

const PLAIN: FittedCall['transcript'] = { format: 'json', granularities: [] };

export function asItIs({ request }: ReadCall): FittedCall {
  return { body: request.body, needs: NO_NEEDS, headers: {}, transcript: PLAIN };
}

/** Returns the models, one per provider, that could serve the call now. */
export type ModelsAsked = () => readonly AdvertisedModel[];

/** Throws `unsupported_modality` at the first part that no model accepts. */
export function fitChat(call: ReadCall, models: ModelsAsked): FittedCall {
  const inputs: string[] = [];
  let known: readonly AdvertisedModel[] | null = null;
  for (const { input, param } of call.reading?.media ?? mediaIn(call.request.body['messages'])) {
    if (inputs.includes(input)) continue;
    inputs.push(input);
    known ??= models();
    const isTaken = known.length === 0 || known.some((model) => mayTake(model, inputs));
    if (!isTaken) throw inputNotTaken(call.request, [input], param);
  }
  const fitted = asItIs(call);
  return inputs.length === 0 ? fitted : { ...fitted, needs: { ...NO_NEEDS, inputs } };
}

/**
 * Specification: `verbose_json` with granularities is downgraded to plain text, without an error,
 * if the model does not list support.
 */
export function fitTranscription({ request, files }: ReadCall, models: ModelsAsked): FittedCall {
  const { timestamp_granularities: asked, response_format: _format, ...body } = request.body;
  const format = formatOf(files[0]?.contentType ?? '');
  const plain = { body: { ...body, response_format: 'json' }, needs: { ...NO_NEEDS, format } };
  const supported = models().some((model) => model.supported_features.includes('timestamps'));
  const { responseFormat } = request;
  if (responseFormat === 'text') {
    return { ...plain, headers: {}, transcript: { format: 'text', granularities: [] } };
  }
  if (responseFormat === 'srt' || responseFormat === 'vtt') {
    const granularities = ['segment'];
    return {
      body: { ...body, response_format: 'verbose_json', timestamp_granularities: granularities },
      // If no model lists them, its server may still return times.
      needs: { features: supported ? ['timestamps'] : [], voices: [], format },
      headers: {},
      transcript: { format: responseFormat, granularities },
    };
  }
  if (responseFormat !== 'verbose_json') {
    return { ...plain, headers: {}, transcript: PLAIN };
  }
  const named = Array.isArray(asked) && asked.length > 0;
  const granularities = named ? asked.map(String) : ['segment'];
  if (named && !supported) {
    const transcript = { format: 'downgraded', granularities: [] } as const;
    return { ...plain, headers: { 'x-downgraded': 'verbose_json' }, transcript };
  }
  return {
    body: { ...body, response_format: 'verbose_json', timestamp_granularities: granularities },
    needs: { features: named ? ['timestamps'] : [], voices: [], format },
    headers: {},
    transcript: { format: 'verbose_json', granularities },
  };
}

/** The same for a translation, which few servers make. */
export function fitTranslation(call: ReadCall, models: ModelsAsked): FittedCall {
  const fitted = fitTranscription(call, models);
  const features = [...fitted.needs.features, 'translation'];
  return { ...fitted, needs: { ...fitted.needs, features } };
}

/** OpenAI's own voices are replaced by the model's first; other unknown voices are refused. */
export function fitSpeech({ request, files }: ReadCall, models: ModelsAsked): FittedCall {
  const asked = request.body['voice'];
  const offered = voicesOf(models());
  // The reference recording of a cloned voice.
  const features = files.length > 0 ? ['voice-cloning'] : [];
  const choice = chooseVoice(typeof asked === 'string' ? asked : null, offered);
  const format = request.responseFormat ?? 'wav';
  const fitted = { body: request.body, headers: {}, transcript: PLAIN };
  switch (choice.kind) {
    case 'asked':
      return { ...fitted, needs: { features, voices: choice.needed, format } };
    case 'fallback':
      return {
        ...fitted,
        body: { ...request.body, voice: choice.voice },
        needs: { features, voices: [choice.voice], format },
        headers: { 'x-voice-fallback': encodeURIComponent(wellFormed(choice.voice)) },
      };
    case 'unknown':
      throw unknownVoice(String(asked), request.model, offered);
  }
}

const MAX_NAMED = 8;

function unknownVoice(asked: string, model: string, offered: readonly string[]): ApiError {
  const near = nearest(asked, offered);
  const named = (near.length > 0 ? near : offered.slice(0, MAX_NAMED)).map((one) => `'${one}'`);
  const message =
    `The model '${model}' has no voice '${asked}'. Try ${named.join(', ')}; ` +
    'GET /audio/voices lists them all.';
  return new ApiError('invalid_value', message, { param: 'voice' });
}

// The voice: the requested one, or a replacement for one of OpenAI's own.

/** Voices that clients send by default; the AI SDK always sends `alloy`. */
const OPENAI_VOICES: ReadonlySet<string> = new Set([
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]);

type VoiceChoice =
  /** As requested; `needed`: the voices that a provider must have for it. */
  | { readonly kind: 'asked'; readonly needed: readonly string[] }
  | { readonly kind: 'fallback'; readonly voice: string }
  | { readonly kind: 'unknown' };

/** `offered`: empty if no provider lists its voices: any may be requested then. */
export function chooseVoice(asked: string | null, offered: readonly string[]): VoiceChoice {
  const [first] = offered;
  if (asked === null || first === undefined) return { kind: 'asked', needed: [] };
  const needed = offered.includes(asked) ? [asked] : blended(asked);
  if (needed.every((voice) => offered.includes(voice))) return { kind: 'asked', needed };
  return OPENAI_VOICES.has(asked) ? { kind: 'fallback', voice: first } : { kind: 'unknown' };
}

/** The voices of Kokoro's `af_bella(2)+af_sky(1)`. */
function blended(asked: string): string[] {
  return [...new Set(asked.split('+').map((voice) => voice.replace(/\([\d.]+\)$/, '')))];
}
