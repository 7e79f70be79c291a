/** Answers of the APIs that are translated to chat completions, in the form of the caller's API. */
import { ApiError } from '@inference-gateway/shared/errors';
import { BODY_LIMITS, jsonFault } from '@inference-gateway/shared/json/scan';
import { TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import type { TranslationAsked } from '@inference-gateway/shared/openai/translated-apis';
import type { AnswerEvents } from '@inference-gateway/shared/openai/translation';
import type { TranslateResult } from '../../jobs/sinks.js';
import type { Store } from '../../store/port.js';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import { JSON_TYPE } from './json-answer.js';
import type { Rendered } from './json-answer.js';
import type { StreamForm } from './stream-answer.js';

/** Bytes that are translated on the event loop: some milliseconds. */
const MAX_SMALL_BYTES = 256 * 1024;
const SMALL_LIMITS = { ...BODY_LIMITS, maxValues: 5_000, maxNumbers: 20_000 };

/** Whose answer it is, and its form. */
interface Wanted {
  readonly memberId: string;
  readonly asked: TranslationAsked;
}

/** The thread of `large-bodies.ts`. */
interface Thread {
  translate(document: Buffer, wanted: Wanted): Promise<Rendered | ApiError | string>;
}

/** Translates a complete chat completion; returns a string with the error if it is none. */
export async function translateAnswer(
  document: Buffer,
  wanted: Wanted,
  thread: Thread,
): Promise<Rendered | ApiError | string> {
  const isSmall = document.length <= MAX_SMALL_BYTES && jsonFault(document, SMALL_LIMITS) === null;
  return isSmall ? translatedOf(document, wanted.asked) : thread.translate(document, wanted);
}

/** The same here and now. */
export function translatedOf(
  document: Buffer,
  { api, subject }: TranslationAsked,
): Rendered | string {
  const fault = jsonFault(document);
  if (fault !== null) return fault;
  const completion = objectOf(document.toString());
  if (completion === null) return 'it is no chat completion';
  const { translation } = TRANSLATED_APIS[api];
  const answer = translation.toAnswer(completion, named(subject, completion));
  const body = Buffer.from(JSON.stringify(answer));
  return { contentType: JSON_TYPE, body, measures: NOTHING_MEASURED };
}

/** The result of a job of a translated request. */
export function resultTranslator(
  store: Pick<Store, 'findJobContext'>,
  thread: Thread,
): TranslateResult {
  return async (job, document) => {
    const { id, memberId, api, createdAt: createdMs } = job;
    const model = job.servedModel ?? job.model;
    const context = await store.findJobContext(id);
    // Erased with the body: the job has ended meanwhile, and its result counts no more.
    if (api === null || context === null) return endedMeanwhile(id);
    const createdAt = Math.floor(createdMs / 1000);
    const asked = { api, subject: { id, createdAt, model, context } };
    const translated = await translateAnswer(document, { memberId, asked }, thread);
    const isFault = typeof translated === 'string' || translated instanceof ApiError;
    return isFault ? translated : translated.body;
  };
}

function endedMeanwhile(id: string): ApiError {
  return new ApiError('internal_error', `The job ${id} ended before its result was there.`);
}

const DATA = 'data: '.length;

/** The events of a chat completion's stream as the events of the API. */
export class TranslatedStream implements StreamForm {
  readonly #asked: TranslationAsked;
  #events: AnswerEvents | null = null;

  constructor(asked: TranslationAsked) {
    this.#asked = asked;
  }

  begin(): void {
    this.#events = null;
  }

  pass(events: Buffer): { readonly text: string } | { readonly problem: string } {
    try {
      return { text: this.#textOf(events) };
    } catch (fault) {
      if (fault instanceof ApiError) return { problem: fault.message };
      throw fault;
    }
  }

  /** Throws an `ApiError` for events that are no chunks of a chat. */
  #textOf(events: Buffer): string {
    let text = '';
    for (const event of events.toString().split('\n\n')) {
      // After the last blank line.
      if (event === '') continue;
      const chunk = objectOf(event.slice(DATA));
      if (chunk === null) throw new ApiError('provider_error', 'an event that is no JSON');
      this.#events ??= this.#open(chunk);
      text += this.#events.chunk(chunk);
    }
    return text;
  }

  end(): string {
    return (this.#events ?? this.#open({})).end();
  }

  fail(error: ApiError): string {
    return (this.#events ?? this.#open({})).fail(error);
  }

  #open(chunk: Record<string, unknown>): AnswerEvents {
    const { api, subject } = this.#asked;
    return TRANSLATED_APIS[api].translation.openEvents(named(subject, chunk));
  }
}

/** With the model that answers. */
function named(subject: TranslationAsked['subject'], { model }: Record<string, unknown>) {
  return typeof model === 'string' ? { ...subject, model } : subject;
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
