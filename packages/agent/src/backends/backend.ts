/**
 * A local model server as the agent uses it. One file per kind implements this interface; every
 * kind passes `test/agent/backends/conformance.test.ts`.
 */
import type { DayHours } from '@inference-gateway/shared/day-hours';
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ModelAction } from '@inference-gateway/shared/protocol/model-asks';
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
  /** Null: the number that the local server reports, else 1. */
  readonly slots: number | null;
  readonly slotGroup: string | null;
  /** Null: all that the local server lists. */
  readonly models: readonly ConfiguredModel[] | null;
  /** Request fields that are never passed on, in addition to the backend's own list. */
  readonly dropFields: readonly string[];
  /** False: no work for others, even if the coordinator sends some. */
  readonly foreign: boolean;
  /** When others may use it, by this machine's clock; null: always. */
  readonly hours: DayHours | null;
  /** The agent proves each listed model with a tiny question before it offers the model. */
  readonly prove: boolean;
  /** For ComfyUI: each is one model. */
  readonly workflows: readonly Workflow[];
  /** Where the server keeps its models; null: where it usually does. */
  readonly modelsFolder?: string | null;
}

/** A graph in ComfyUI's API format, with placeholders such as `{{prompt}}`. */
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

/** What the local server reports of itself. */
export interface Description {
  readonly models: readonly AdvertisedModel[];
  /** Null if the server does not report it. */
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
   * Can be read once. Files arrive one after the other under flow-control credit: the next file
   * arrives only after this one has been read to its end.
   */
  read(): AsyncIterable<Uint8Array>;
}

/** One request for the local server. */
export interface LocalCall {
  readonly endpoint: EndpointKey;
  readonly model: AdvertisedModel;
  /**
   * The caller's JSON body, or the fields of the form, checked (`openai-wire/checked-body.ts`); its
   * `model` is the id in the caller's request. Large members may be `RawJson`.
   */
  readonly body: Readonly<Record<string, unknown>>;
  /** Estimated, per prompt; if absent, derived from the body. */
  readonly promptTokens?: readonly number[];
  readonly uploads: readonly LocalUpload[];
  readonly requestId: string;
  readonly signal: AbortSignal;
  /**
   * The name of the field for a model's reasoning in the caller's answer; absent: the usual one.
   */
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

/** The whole JSON answer of `/embeddings`. */
export interface VectorAnswer {
  readonly kind: 'vectors';
  readonly status: 200;
  /** Bytes, in pieces: joining or decoding millions of numbers takes long. */
  readonly json: readonly Uint8Array[];
  readonly usage: TokenUsage;
}

/**
 * A stream in OpenAI form: each item is one or more whole events (`data: {…}\n\n`), never `[DONE]`,
 * which the coordinator writes. The iterator throws a `LocalFailure` if the local server's stream
 * breaks, and returns the usage if it ends well.
 */
export interface EventAnswer {
  readonly kind: 'events';
  readonly events: AsyncGenerator<string, TokenUsage | null, void>;
  /**
   * Usage of the tokens yielded so far: the server's own count if it reports one, else an estimate.
   */
  soFar(): TokenUsage | null;
}

/** One file that a model made. */
export interface MediaPart {
  /** As reported by the local server; the coordinator checks the bytes itself. */
  readonly contentType: string;
  readonly revisedPrompt: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Files, one after the other: each is read to its end before the next is requested. The iterator
 * throws a `LocalFailure` if the local server breaks off.
 */
export interface MediaAnswer {
  readonly kind: 'media';
  readonly parts: AsyncGenerator<MediaPart, void, void>;
}

/**
 * The answer of each endpoint, errors apart: chat and completions answer a document or events,
 * transcriptions a document `{text, language?, duration?, segments?, words?}` with times in seconds
 * (the coordinator converts it to the format that the caller asked for), all others media.
 */
export type LocalAnswer = DocumentAnswer | VectorAnswer | EventAnswer | MediaAnswer;

/** A model on a local server's disk. */
export interface LibraryModel {
  /** By which the server's own API knows it. */
  readonly name: string;
  /** Other names that requests may have for it. */
  readonly aliases: readonly string[];
  /** Null if the server does not report it, like the two below. */
  readonly bytes: number | null;
  readonly loaded: boolean | null;
  readonly memoryBytes: number | null;
  /** The server refuses to delete it: it is not from its library. */
  readonly isFixed: boolean;
}

export interface LibraryModels {
  /** What this version of the server can do. */
  readonly can: readonly ModelAction[];
  readonly models: readonly LibraryModel[];
}

export interface PullProgress {
  /** `finishing`: all bytes have come, and are checked or unpacked. */
  readonly phase: 'transferring' | 'finishing';
  /** Null if the server does not report them, or not yet. */
  readonly bytes: number | null;
  readonly totalBytes: number | null;
  /** Differs if there is progress that the bytes do not show. */
  readonly step?: string;
}

/**
 * What a local server can do with its models. All methods throw a `LocalFailure`, or the signal's
 * abort reason.
 */
export interface ModelLibrary {
  /** Folders in which it usually keeps models, most likely first; empty: it has no usual one. */
  readonly folders: readonly string[];
  /** False: nothing stops a pull that has begun, so that no limit of the owner's would hold. */
  readonly stopsPulls: boolean;
  /** The name with which `list` will show a model that is pulled by this one. */
  canonical(name: string): string;
  /** Loads nothing. */
  list(signal: AbortSignal): Promise<LibraryModels>;
  /** Resolves once it is in memory. */
  load(model: LibraryModel, signal: AbortSignal): Promise<void>;
  unload(model: LibraryModel, signal: AbortSignal): Promise<void>;
  delete?(model: LibraryModel, signal: AbortSignal): Promise<void>;
  /**
   * Pulls a model of the server's own library. It is there when the iterator returns. An aborted
   * signal stops the transfer before the iterator throws.
   */
  pull?(name: string, signal: AbortSignal): AsyncGenerator<PullProgress, void, void>;
}

export interface Backend {
  /** The form of chat messages that it takes; absent: OpenAI's. */
  readonly messages?: 'plain' | undefined;
  /**
   * Asks the local server what it serves, without loading a sleeping model. Throws a
   * `LocalFailure`.
   */
  describe(signal: AbortSignal): Promise<Description>;
  /** Runs one request. Throws a `LocalFailure`, or the signal's abort reason. */
  call(call: LocalCall): Promise<LocalAnswer>;
  /**
   * The reason why the model cannot do its work although it is listed and answers; null if it can.
   * Called after the model has answered its first question. Throws as `describe` does.
   */
  unfit?(model: AdvertisedModel, signal: AbortSignal): Promise<string | null>;
  /** Absent: the server's API does not manage models. */
  readonly library?: ModelLibrary | undefined;
}

/** The local server did not do what the agent asked; the code is sent to the coordinator. */
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
 * A stream that began with the request's own error, reported as the answer with a status that it
 * should have been. After the first part of the stream was sent it is an ordinary failure.
 */
export class LocalRefusal extends LocalFailure {
  readonly answer: DocumentAnswer;

  constructor(message: string, answer: DocumentAnswer) {
    super('LOCAL_ERROR', message);
    this.name = 'LocalRefusal';
    this.answer = answer;
  }
}
