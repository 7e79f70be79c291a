/**
 * An API of text models that the gateway serves as chat completions: its requests are translated
 * to requests of `/chat/completions`, and the answers back. All of it is pure, so that providers,
 * queue and metering know only chat completions.
 */
import type { ApiError } from '../errors.js';

/** What the answer needs of the request: JSON, stored with a job until the job is erased. */
export type TranslationContext = Readonly<Record<string, unknown>>;

/** A translated request. */
export interface TranslatedRequest {
  /** The body for `/chat/completions`, not yet checked by that endpoint's schema. */
  readonly chat: Record<string, unknown>;
  readonly context: TranslationContext;
  /** Names of the tools that the gateway cannot run and has left out. */
  readonly ignoredTools: readonly string[];
}

/** The answer that is being translated. */
export interface AnswerSubject {
  /** The id of the request or the job, without a prefix: `01J…`. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The model that answers, by the id that callers use. */
  readonly model: string;
  readonly context: TranslationContext;
}

/** Writes the events of one streamed answer, as server-sent events with their blank lines. */
export interface AnswerEvents {
  /** The events that follow from one `chat.completion.chunk`; may be empty. */
  chunk(chunk: Readonly<Record<string, unknown>>): string;
  /** The answer has ended: the last events. */
  end(): string;
  /** The answer has failed after its first event: the events that say so. */
  fail(error: ApiError): string;
}

export interface Translation {
  /** Throws an `ApiError` whose `param` is the path in the body as it was sent. */
  readonly toChat: (body: unknown) => TranslatedRequest;
  /** A complete chat completion as an answer of this API. */
  readonly toAnswer: (
    completion: Readonly<Record<string, unknown>>,
    subject: AnswerSubject,
  ) => Readonly<Record<string, unknown>>;
  readonly openEvents: (subject: AnswerSubject) => AnswerEvents;
}
