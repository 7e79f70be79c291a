/**
 * The differences between the kinds of endpoints in the coordinator: fitting a call to models,
 * answering its caller, and the API description.
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
import {
  asItIs,
  fitChat,
  fitSpeech,
  fitTranscription,
  fitTranslation,
  voicesOf,
} from './fit-call.js';
import type { FittedCall, ModelsAsked } from './fit-call.js';
import type { ReadCall } from './read-call.js';

export type CallKind = DescribedKind & {
  readonly serve: RelayedKind | KnownKind | TranslatedKind;
};

/** A provider answers. */
interface RelayedKind {
  readonly from: 'provider';
  /** The models that a call is fitted to. */
  modelsToFit(candidates: readonly Candidate[], caller: Asking): readonly AdvertisedModel[];
  /** Throws an `ApiError` if no model can serve the request. */
  fit(call: ReadCall, models: ModelsAsked): FittedCall;
  answer(answered: Answered, parts: AnswerParts): HttpAnswer;
}

/** The coordinator answers at once from the agents' lists, without a request to them. */
interface KnownKind {
  readonly from: 'memory';
  tell(models: readonly AdvertisedModel[]): object;
}

/** Its requests come in the form of a translated API, at a route of its own. */
interface TranslatedKind {
  readonly from: 'translation';
}

const RELAYED = { from: 'provider', modelsToFit: fittingModels, fit: asItIs } as const;

export const CALL_KINDS: Readonly<Record<EndpointKind, CallKind>> = {
  chat: {
    serve: {
      from: 'provider',
      // Input kinds of a chat are refused only if no provider accepts them, online or not.
      modelsToFit: knownModels,
      fit: fitChat,
      answer: textAnswer,
    },
    describe: described.chat,
    parameters: ['ReasoningField'],
  },
  // `count-tokens.ts`
  count: { serve: { from: 'translation' }, describe: described.tokenCount },
  completion: { serve: { ...RELAYED, answer: textAnswer }, describe: described.completion },
  transcript: {
    serve: { ...RELAYED, fit: fitTranscription, answer: transcriptAnswer },
    describe: described.transcript,
  },
  translation: {
    serve: { ...RELAYED, fit: fitTranslation, answer: transcriptAnswer },
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
    // The voice is chosen when the call arrives, whether it runs now or later.
    queuedHeaders: ['x-voice-fallback'],
  },
  film: { serve: { ...RELAYED, answer: fileAnswer }, describe: described.file },
  music: { serve: { ...RELAYED, answer: fileAnswer }, describe: described.file },
  embeddings: { serve: { ...RELAYED, answer: textAnswer }, describe: described.embeddings },
  rerank: { serve: { ...RELAYED, answer: textAnswer }, describe: described.rerank },
};

/** Throws for an endpoint that no provider serves. */
export function relayedKind(endpoint: EndpointKey): RelayedKind {
  const { kind } = ENDPOINTS[endpoint];
  const { serve } = CALL_KINDS[kind];
  if (serve.from === 'provider') return serve;
  throw new Error(`${kind} is answered without a provider`);
}
