/**
 * What is special about one program that speaks OpenAI's API: where its own lists tell more than
 * `/v1/models`, and what its requests must not hold. `backend.ts` does the rest for all of them.
 */
import type { EndpointKind, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ListedModel } from '../advertise.js';
import type { ListedFile } from '../../openai-wire/media-list.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';
import type { ListedVoice } from './voices.js';

/** A local server while it is asked what it serves: GET alone, one question at a time. */
export interface AskedServer {
  readonly type: ServiceType;
  /** As configured, without a trailing slash; usually with `/v1`. */
  readonly baseUrl: string;
  /** Without `/v1`. */
  readonly root: string;
  /** The JSON of a success. Throws a `LocalFailure` for everything else. */
  readonly get: (url: string) => Promise<unknown>;
  /** The JSON of a success; null for everything else but a server that is gone. */
  readonly find: (url: string) => Promise<unknown>;
}

export interface Listing {
  /** Of the service's type alone; nothing that runs elsewhere. */
  readonly models: readonly ListedModel[];
  /** Null where the server does not tell. */
  readonly slots: number | null;
}

export interface DrawingServer {
  /** Without `/v1`. */
  readonly root: string;
  readonly apiKey: string | null;
}

export interface Dialect {
  /** Request fields that are never passed on, beside the owner's. */
  readonly dropFields?: readonly string[];
  /** Absent: `/models` alone is asked. */
  list?(server: AskedServer): Promise<Listing>;
  /** Of a `tts` service. Absent: `/audio/voices` is asked. */
  voices?(server: AskedServer): Promise<readonly ListedVoice[]>;
  /** The formats that a `tts` service makes by itself. Absent: it is not known. */
  readonly formats?: readonly string[];
  /**
   * What it would do badly, refused before it is asked. Null: nothing. Absent: voices that look
   * like files.
   */
  refuse?(call: LocalCall): DocumentAnswer | null;
  /** The fields as it wants them, `model` being its own name by now. Absent: as they are. */
  shape?(
    fields: Readonly<Record<string, unknown>>,
    call: LocalCall,
  ): Readonly<Record<string, unknown>>;
  /** `plain`: three roles, one text a message, and nothing else. */
  readonly messages?: 'plain';
  /** False: it refuses to stream, so it is asked for whole answers, which are sent on as one. */
  readonly streams?: false;
  /** True: with one model, it names that one in answers, whichever was asked for. */
  readonly namesItself?: true;
  /** Where it computes on when its caller leaves, so that its slot is taken until it has ended. */
  readonly outlives?: readonly EndpointKind[];
  /**
   * Draws by a way of its own, which can be stopped; null where this version has none. `fields` are
   * the caller's, less what is dropped. Throws a `LocalFailure`, or what the signal was aborted
   * with.
   */
  draw?(
    server: DrawingServer,
    call: LocalCall,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<readonly ListedFile[] | DocumentAnswer | null>;
  /** Whether a plain call is asked for as a stream, for a server that notices then who leaves. */
  folds?(fields: Readonly<Record<string, unknown>>): boolean;
}

/**
 * Of servers that look at the connection only where they write to it (SGLang: else every four
 * seconds), or that have llama-server behind them. What their streams leave out is asked for
 * plainly.
 */
export function foldsUsual(fields: Readonly<Record<string, unknown>>): boolean {
  const { logprobs, n, best_of: best, echo } = fields;
  return !logprobs && !echo && (n ?? 1) === 1 && (best ?? 1) === 1;
}

/** The types of work that OpenAI's own paths serve: films and music have other ones everywhere. */
export const OPENAI_KINDS: ReadonlySet<ServiceType> = new Set(['llm', 'stt', 'tts', 'image']);

/**
 * What no caller may send to llama.cpp's server, nor to what has one behind it: a slot's number
 * would reach other callers' caches, an adapter changes the model for all, and with older versions
 * and forks the last sets the beginning of every other caller's prompt.
 */
export const LLAMA_CPP_DROPS = ['id_slot', 'slot_id', 'lora', 'system_prompt'];
