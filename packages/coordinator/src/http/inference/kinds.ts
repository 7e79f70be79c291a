/**
 * What differs between the kinds of endpoints in the coordinator: how a call is fitted to the
 * models that are there, how its caller is answered, and what the interface description tells.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, EndpointKind } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { fittingModels, knownModels } from '../../core/routing/match.js';
import type { Asking, Candidate } from '../../core/routing/match.js';
import * as described from '../../openapi/inference-answers.js';
import type { DescribedKind } from '../../openapi/inference-answers.js';
import type { HttpAnswer } from '../answers/answer.js';
import { fileAnswer, imagesAnswer, textAnswer, transcriptAnswer } from '../answers/call-answers.js';
import type { Answered, AnswerParts } from '../answers/call-answers.js';
import { asItIs, fitChat, fitSpeech, fitTranscription, voicesOf } from './fit-call.js';
import type { FittedCall, ModelsAsked } from './fit-call.js';
import type { ReadCall } from './read-call.js';

export type CallKind = DescribedKind & {
  readonly serve: RelayedKind | KnownKind;
};

/** A provider answers. */
interface RelayedKind {
  readonly from: 'provider';
  /** The models to which a call is fitted. */
  modelsToFit(candidates: readonly Candidate[], caller: Asking): readonly AdvertisedModel[];
  /** Throws an `ApiError` if no model serves what was asked. */
  fit(call: ReadCall, models: ModelsAsked): FittedCall;
  answer(answered: Answered, parts: AnswerParts): HttpAnswer;
}

/** The coordinator answers at once from what agents have told, and never by asking them. */
interface KnownKind {
  readonly from: 'memory';
  tell(models: readonly AdvertisedModel[]): object;
}

const RELAYED = { from: 'provider', modelsToFit: fittingModels, fit: asItIs } as const;

export const CALL_KINDS: Readonly<Record<EndpointKind, CallKind>> = {
  chat: {
    serve: {
      from: 'provider',
      // What a chat holds is refused only where nobody takes it, those who are offline included.
      modelsToFit: knownModels,
      fit: fitChat,
      answer: textAnswer,
    },
    describe: described.chat,
    parameters: ['ReasoningField'],
  },
  completion: { serve: { ...RELAYED, answer: textAnswer }, describe: described.completion },
  transcript: {
    serve: { ...RELAYED, fit: fitTranscription, answer: transcriptAnswer },
    describe: described.transcript,
  },
  voices: {
    serve: { from: 'memory', tell: (models) => ({ voices: voicesOf(models) }) },
    describe: described.voices,
    parameters: ['VoiceModel'],
  },
  images: { serve: { ...RELAYED, answer: imagesAnswer }, describe: described.images },
  speech: {
    serve: { ...RELAYED, fit: fitSpeech, answer: fileAnswer },
    describe: described.file,
    // A voice is chosen when the call comes in, whether it runs now or later.
    queuedHeaders: ['x-voice-fallback'],
  },
  film: { serve: { ...RELAYED, answer: fileAnswer }, describe: described.file },
  music: { serve: { ...RELAYED, answer: fileAnswer }, describe: described.file },
};

/** Throws for an endpoint that no provider serves. */
export function relayedKind(endpoint: EndpointKey): RelayedKind {
  const { kind } = ENDPOINTS[endpoint];
  const { serve } = CALL_KINDS[kind];
  if (serve.from === 'provider') return serve;
  throw new Error(`${kind} is answered without a provider`);
}
