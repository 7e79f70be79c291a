/** Requests to a local server's own API about its models, and what it says when it refuses. */
import type * as z from 'zod';
import { withoutPaths } from '../openai-wire/error-document.js';
import { asObject, asText } from '../openai-wire/json.js';
import { LocalFailure } from './backend.js';
import { probe } from './probe.js';
import type { ProbeAnswer } from './probe.js';

/** Of a server's own words, in a message to the owner. */
const MAX_SAID = 300;

export class OwnApi {
  readonly root: string;
  readonly apiKey: string | null;

  constructor({ root, apiKey }: { readonly root: string; readonly apiKey: string | null }) {
    this.root = root;
    this.apiKey = apiKey;
  }

  /** The JSON of a success. Throws a `LocalFailure` for any other answer. */
  async get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#success(path, await this.#ask(path, { signal }));
  }

  /** The same, if it has this form. */
  async read<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    return formed(schema, await this.get(path, signal));
  }

  /** The JSON of a success; null for any other answer. */
  async find(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, json } = await this.#ask(path, { signal });
    return status === 200 ? (json ?? null) : null;
  }

  async post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#success(path, await this.#ask(path, { signal, body }));
  }

  async delete(path: string, body: unknown, signal: AbortSignal): Promise<void> {
    this.#success(path, await this.#ask(path, { signal, body, method: 'DELETE' }));
  }

  #ask(
    path: string,
    asking: { signal: AbortSignal; body?: unknown; method?: 'DELETE' },
  ): Promise<ProbeAnswer> {
    return probe(this.root + path, { apiKey: this.apiKey, ...asking });
  }

  #success(path: string, { status, json, text }: ProbeAnswer): unknown {
    // LM Studio answers 200 with an error for a path that it does not know.
    const isError = status < 200 || status >= 300 || asObject(json)?.['error'] !== undefined;
    if (!isError) return json;
    throw serverRefused(json ?? text, `${path.split('?')[0]} answered ${status}`);
  }
}

/** Throws a `LocalFailure` if the server answers in another form: it may be another program. */
export function formed<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new LocalFailure('LOCAL_ERROR', 'the local server did not answer as this kind does.');
}

/** The server's own words, or else what happened. */
export function serverRefused(said: unknown, otherwise: string): LocalFailure {
  const words = wordsOf(said);
  return new LocalFailure(
    'LOCAL_ERROR',
    words === null ? `the local server refused: ${otherwise}.` : `the local server says: ${words}`,
  );
}

function wordsOf(said: unknown): string | null {
  const document = asObject(said);
  const error = document?.['error'] ?? document?.['message'];
  const text = asText(error) ?? asText(asObject(error)?.['message']);
  const line = text?.split('\n')[0];
  return line === undefined ? null : withoutPaths(line).slice(0, MAX_SAID);
}

/** Resolves after the time; rejects with the signal's reason if it is aborted before. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const stop = done(() => reject(signal.reason as Error));
    const timer = setTimeout(
      done(() => resolve()),
      ms,
    );
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
