/**
 * What is special about one program that speaks OpenAI's API: its own lists, if they report more
 * than `/v1/models`, and the fields that its requests must not contain. `backend.ts` does the rest
 * for all.
 */
import type { EndpointKind, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ListedModel } from '../advertise.js';
import type { ListedFile } from '../../openai-wire/media-list.js';
import type { DocumentAnswer, LocalCall, ModelLibrary } from '../backend.js';
import type { ListedVoice } from './voices.js';

/** A local server while the agent asks what it serves: GET only, one request at a time. */
export interface AskedServer {
  readonly type: ServiceType;
  /** As configured, without a trailing slash; usually with `/v1`. */
  readonly baseUrl: string;
  /** Without `/v1`. */
  readonly root: string;
  /** The JSON of a success. Throws a `LocalFailure` for any other answer. */
  readonly get: (url: string) => Promise<unknown>;
  /** The JSON of a success; null for any other answer. Throws only if the server is gone. */
  readonly find: (url: string) => Promise<unknown>;
}

export interface Listing {
  /** Models of the service's type; none that runs elsewhere. */
  readonly models: readonly ListedModel[];
  /** Null if the server does not report it. */
  readonly slots: number | null;
  /** Inputs that it takes in one request for vectors; absent: as many as callers may send. */
  readonly mostInputs?: number;
}

/** A local server, for requests to its own API. */
export interface OwnServer {
  /** Without `/v1`. */
  readonly root: string;
  readonly apiKey: string | null;
}

export interface Dialect {
  /** Request fields that are never passed on, in addition to the owner's list. */
  readonly dropFields?: readonly string[];
  /** Absent: only `/models` is asked. */
  list?(server: AskedServer): Promise<Listing>;
  /** Paths of its own outside of `/v1`. */
  readonly rootPaths?: Readonly<Partial<Record<EndpointKind, string>>>;
  /** For a `tts` service. Absent: `/audio/voices` is asked. */
  voices?(server: AskedServer): Promise<readonly ListedVoice[]>;
  /** The formats that a `tts` service makes itself. Absent: unknown. */
  readonly formats?: readonly string[];
  /**
   * Refuses calls that the server would handle badly, before it is asked. Null: no refusal. Absent:
   * refuses voices that look like files.
   */
  refuse?(call: LocalCall): DocumentAnswer | null;
  /** The fields in the server's form; `model` is already its own name. Absent: unchanged. */
  shape?(
    fields: Readonly<Record<string, unknown>>,
    call: LocalCall,
  ): Readonly<Record<string, unknown>>;
  /**
   * How it counts the tokens of a prompt without running the model; absent: it cannot. `template`:
   * llama.cpp writes the prompt at one path and splits it at another. `messages`: vLLM does both at
   * one.
   */
  readonly counting?: 'template' | 'messages';
  /** `plain`: three roles and one text per message only. */
  readonly messages?: 'plain';
  /**
   * False: it refuses to stream, so the agent requests whole answers and sends each as one piece.
   */
  readonly streams?: false;
  /** True: with one model, it names that model in answers, whichever was requested. */
  readonly namesItself?: true;
  /**
   * Answers that it computes to the end after the caller leaves; the slot stays taken until then.
   */
  readonly outlives?: readonly EndpointKind[];
  /**
   * Makes images by the server's own API, which can cancel; null if this version lacks it. `fields`
   * are the caller's without dropped ones. Throws a `LocalFailure`, or the signal's abort reason.
   */
  draw?(
    server: OwnServer,
    call: LocalCall,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<readonly ListedFile[] | DocumentAnswer | null>;
  /** Manages the server's models; absent: its API does not. */
  library?(server: OwnServer): ModelLibrary;
  /**
   * Whether to request a plain call as a stream, for a server that then notices a caller that
   * leaves.
   */
  folds?(fields: Readonly<Record<string, unknown>>): boolean;
}

/**
 * For servers that check the connection only when they write to it (SGLang: otherwise every four
 * seconds), or that have llama-server behind them. What their streams omit is requested without a
 * stream.
 */
export function foldsUsual(fields: Readonly<Record<string, unknown>>): boolean {
  const { logprobs, n, best_of: best, echo } = fields;
  return !logprobs && !echo && (n ?? 1) === 1 && (best ?? 1) === 1;
}

/** The types of work on OpenAI's own paths: videos and music have other paths everywhere. */
export const OPENAI_KINDS: ReadonlySet<ServiceType> = new Set([
  'llm',
  'stt',
  'tts',
  'image',
  'embedding',
  'rerank',
]);

/**
 * Fields that no caller may send to llama.cpp's server, or to a server in front of one: a slot's
 * number would reach other callers' caches, an adapter changes the model for all, and in older
 * versions and forks the last field sets the start of every other caller's prompt.
 */
export const LLAMA_CPP_DROPS = ['id_slot', 'slot_id', 'lora', 'system_prompt'];
