/**
 * A local model server as the agent uses it. One file a kind implements this; every kind passes
 * `test/agent/backends/conformance.test.ts`.
 */
import type { DayHours } from '@inference-gateway/shared/day-hours';
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type {
  AdvertisedModel,
  ReasoningField,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';

/** One service of the configuration, with its defaults filled in. */
export interface ServiceConfig {
  readonly id: string;
  readonly type: ServiceType;
  readonly backend: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The local server's own key, never the caller's. */
  readonly apiKey: string | null;
  /** Null: what the local server reports, else 1. */
  readonly slots: number | null;
  readonly slotGroup: string | null;
  /** Null: all that the local server lists. */
  readonly models: readonly ConfiguredModel[] | null;
  /** Request fields that are never passed on, beside those that the backend names. */
  readonly dropFields: readonly string[];
  /** False: nobody else's work, whatever the coordinator says. */
  readonly foreign: boolean;
  /** When others may use it, by this machine's clock; null: always. */
  readonly hours: DayHours | null;
  /** A listed model is asked a tiny question before it is offered. */
  readonly prove: boolean;
  /** Of ComfyUI: each is one model. */
  readonly workflows: readonly Workflow[];
}

/** A graph of ComfyUI in its API's format, with placeholders such as `{{prompt}}`. */
export interface Workflow {
  readonly id: string;
  readonly graph: Readonly<Record<string, unknown>>;
}

export interface ConfiguredModel {
  readonly id: string;
  readonly servedName: string;
  readonly contextLength: number | null;
  readonly inputModalities: readonly string[] | null;
  readonly supportedFeatures: readonly string[] | null;
  readonly voices?: readonly string[] | null;
}

/** What the local server says of itself. */
export interface Description {
  readonly models: readonly AdvertisedModel[];
  /** Null where it does not tell. */
  readonly slots: number | null;
}

/** A file of a request. */
export interface LocalUpload {
  /** The form field: `file`, `image` or `mask`. */
  readonly name: string;
  /** As the coordinator detected it. */
  readonly contentType: string;
  readonly bytes: number;
  /**
   * Can be read once. Files arrive one after the other under credit: whoever does not read one to
   * its end never sees the next.
   */
  read(): AsyncIterable<Uint8Array>;
}

/** One request for the local server. */
export interface LocalCall {
  readonly endpoint: EndpointKey;
  readonly model: AdvertisedModel;
  /**
   * The caller's JSON body, or the fields of the form, checked (`openai-wire/checked-body.ts`); its
   * `model` is the id that the caller asked for. Large members may be `RawJson`.
   */
  readonly body: Readonly<Record<string, unknown>>;
  /** Of each prompt, estimated; absent, the body tells. */
  readonly promptTokens?: readonly number[];
  readonly uploads: readonly LocalUpload[];
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** The name under which the caller reads a model's thinking; absent, the usual one. */
  readonly reasoningField?: ReasoningField;
}

/**
 * A whole JSON answer in OpenAI form. An error has a status of 400 or more and OpenAI's error
 * object.
 */
export interface DocumentAnswer {
  readonly kind: 'document';
  readonly status: number;
  readonly json: string;
  readonly usage: TokenUsage | null;
}

/**
 * A stream in OpenAI form: each item is one or more whole events (`data: {…}\n\n`), never
 * `[DONE]`, which the coordinator writes. The iterator throws a `LocalFailure` where the local
 * server's stream breaks, and returns the usage where it ends well.
 */
export interface EventAnswer {
  readonly kind: 'events';
  readonly events: AsyncGenerator<string, TokenUsage | null, void>;
  /** Of what it has yielded so far: the server's own count where it tells one, else an estimate. */
  soFar(): TokenUsage | null;
}

/** One file that a model made. */
export interface MediaPart {
  /** As the local server says; the coordinator looks for itself. */
  readonly contentType: string;
  readonly revisedPrompt: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Files, one after the other: each is read to its end before the next is asked for. The iterator
 * throws a `LocalFailure` where the local server breaks off.
 */
export interface MediaAnswer {
  readonly kind: 'media';
  readonly parts: AsyncGenerator<MediaPart, void, void>;
}

/**
 * What each endpoint is answered with, errors apart: chat and completions a document or events,
 * transcriptions a document `{text, language?, duration?, segments?, words?}` with times in seconds
 * (whatever form the caller asked for, which the coordinator makes of it), all others media.
 */
export type LocalAnswer = DocumentAnswer | EventAnswer | MediaAnswer;

export interface Backend {
  /** How it takes the messages of a chat; absent: as OpenAI has them. */
  readonly messages?: 'plain' | undefined;
  /**
   * Asks the local server what it serves, without waking a sleeping model. Throws a
   * `LocalFailure`.
   */
  describe(signal: AbortSignal): Promise<Description>;
  /** Runs one request. Throws a `LocalFailure`, or what the signal was aborted with. */
  call(call: LocalCall): Promise<LocalAnswer>;
  /**
   * Why the model is not what it seems by its list and by an answer; null where it is. Asked when
   * the model has answered its first question. Throws as `describe` does.
   */
  unfit?(model: AdvertisedModel, signal: AbortSignal): Promise<string | null>;
}

/** The local server did not do what was asked; the code travels to the coordinator. */
export class LocalFailure extends Error {
  readonly code: Extract<ResetCode, 'LOCAL_UNREACHABLE' | 'LOCAL_TIMEOUT' | 'LOCAL_ERROR'>;

  constructor(code: LocalFailure['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LocalFailure';
    this.code = code;
  }

  /** The connection was closed before the answer was whole. */
  get isBrokenOff(): boolean {
    return this.code === 'LOCAL_ERROR' && this.cause !== undefined;
  }
}

/**
 * A stream that began with an error of the request's own, told as the answer that it would have
 * been with a status. Once something of the stream is on its way it is a failure like any other.
 */
export class LocalRefusal extends LocalFailure {
  readonly answer: DocumentAnswer;

  constructor(message: string, answer: DocumentAnswer) {
    super('LOCAL_ERROR', message);
    this.name = 'LocalRefusal';
    this.answer = answer;
  }
}
