/**
 * Large JSON bodies are parsed, checked and serialized in a thread: on the event loop, all streams
 * and links would wait for it. The results are small values and bytes (`shared/json/sparse.ts`).
 * Members take turns, so that one member's many large bodies do not delay another's. Large
 * transcripts of agents are read and written there, too.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type { ParsedRequest } from '@inference-gateway/shared/openai/requests';
import type { WebhookTarget } from '@inference-gateway/shared/openai/webhook';
import { ThreadQueue } from '@inference-gateway/shared/program/thread-queue';
import type {
  Translated,
  TranslationAsked,
} from '@inference-gateway/shared/openai/translated-apis';
import { sparseBody } from '@inference-gateway/shared/json/sparse';
import type { Rendered } from '../answers/json-answer.js';
import type { TranscriptFacts } from '../answers/transcript.js';
import { mapInTurns } from './map-in-turns.js';
import type { CountedPrompt, Judged, JudgedBatch, JudgedRequest, Question } from './judge-body.js';
import type { JudgedLine, Reading, Submission } from './judge-body.js';
import { LARGE_BODIES_WORKER } from '../../own-files.js';

export type ThreadQuestion =
  | Question
  | { readonly kind: 'transcript'; readonly facts: TranscriptFacts }
  | ({ readonly kind: 'translation' } & TranslationAsked);

export interface Written {
  readonly request: Omit<ParsedRequest, 'body'>;
  readonly body: Uint8Array;
  readonly reading: Reading;
  readonly translated?: Translated;
}

/** Its code is null if it is an internal error. */
export interface Fault {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly param: string | null;
}

export type Answer =
  | ({ readonly kind: 'request'; readonly submission: Submission | null } & Written)
  | {
      readonly kind: 'batch';
      readonly items: readonly ({ readonly endpoint: EndpointKey } & Written)[];
      readonly label: string | null;
      readonly webhook: WebhookTarget | null;
    }
  | {
      readonly kind: 'rendered';
      /** Or the error of the document. */
      readonly rendered: WrittenDocument | string;
    }
  | {
      readonly kind: 'line';
      readonly customId: string;
      readonly path: string;
      /** Or why its request is not valid. */
      readonly item: ({ readonly endpoint: EndpointKey } & Written) | Fault;
    }
  | { readonly kind: 'count'; readonly counted: CountedPrompt }
  | { readonly kind: 'fault'; readonly submission: Submission | null; readonly fault: Fault };

export interface WrittenDocument extends Omit<Rendered, 'body'> {
  readonly body: Uint8Array;
}

export class LargeBodies {
  /** Members take turns. */
  readonly #thread = new ThreadQueue<ThreadQuestion, Answer>(LARGE_BODIES_WORKER, unread);

  /** Number of bodies so far. */
  get read(): number {
    return this.#thread.done;
  }

  async judgeRequest(
    bytes: Buffer,
    question: Extract<Question, { kind: 'request' }>,
  ): Promise<Judged<JudgedRequest>> {
    const answer = await this.#thread.ask(question.memberId, question, bytes);
    if (answer.kind !== 'request' && answer.kind !== 'fault') throw new TypeError(answer.kind);
    const { submission } = answer;
    return { submission, take: () => requestOf(answer) };
  }

  async judgeBatch(
    bytes: Buffer,
    memberId: string,
    question: Extract<Question, { kind: 'batch' }>,
  ): Promise<JudgedBatch> {
    const answer = await this.#thread.ask(memberId, question, bytes);
    if (answer.kind === 'fault') throw errorOf(answer.fault);
    if (answer.kind !== 'batch') throw new TypeError(answer.kind);
    const { items, label, webhook } = answer;
    const read = await mapInTurns(items, ({ endpoint, ...one }) => ({ endpoint, ...whole(one) }));
    return { items: read, label, webhook };
  }

  async judgeLine(
    bytes: Buffer,
    memberId: string,
    question: Extract<Question, { kind: 'line' }>,
  ): Promise<JudgedLine> {
    const answer = await this.#thread.ask(memberId, question, bytes);
    if (answer.kind === 'fault') throw errorOf(answer.fault);
    if (answer.kind !== 'line') throw new TypeError(answer.kind);
    const { customId, path, item } = answer;
    const take = () => {
      if (!('endpoint' in item)) throw errorOf(item);
      const { endpoint, ...written } = item;
      return { endpoint, ...whole(written) };
    };
    return { customId, path, take };
  }

  async countPrompt(bytes: Buffer, memberId: string): Promise<CountedPrompt> {
    const answer = await this.#thread.ask(memberId, { kind: 'count' }, bytes);
    if (answer.kind === 'fault') throw errorOf(answer.fault);
    if (answer.kind !== 'count') throw new TypeError(answer.kind);
    return answer.counted;
  }

  renderTranscript(document: Buffer, memberId: string, facts: TranscriptFacts) {
    return this.#render(document, memberId, { kind: 'transcript', facts });
  }

  translate(
    document: Buffer,
    { memberId, asked }: { readonly memberId: string; readonly asked: TranslationAsked },
  ) {
    return this.#render(document, memberId, { kind: 'translation', ...asked });
  }

  /** If the thread fails, the caller gets an error: its provider has done its work. */
  async #render(
    document: Buffer,
    memberId: string,
    question: ThreadQuestion,
  ): Promise<Rendered | ApiError | string> {
    // A copy that is transferred: the holder of the document keeps it.
    const copy = Buffer.from(document);
    const answer = await this.#thread.ask(memberId, question, copy).catch(refused);
    if (answer instanceof ApiError) return answer;
    if (answer.kind === 'fault') {
      const error = errorOf(answer.fault);
      if (error instanceof ApiError) return error;
      throw error;
    }
    if (answer.kind !== 'rendered') throw new TypeError(answer.kind);
    const { rendered } = answer;
    if (typeof rendered === 'string') return rendered;
    const { buffer, byteOffset, length } = rendered.body;
    return { ...rendered, body: Buffer.from(buffer, byteOffset, length) };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

function refused(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

function requestOf(answer: Extract<Answer, { kind: 'request' | 'fault' }>): JudgedRequest {
  if (answer.kind === 'fault') throw errorOf(answer.fault);
  return whole(answer);
}

function whole({ request, body, ...read }: Written): JudgedRequest {
  return { request: { ...request, body: sparseBody(body) }, ...read };
}

function errorOf({ code, message, param }: Fault): Error {
  if (code === null) return new Error(message);
  return new ApiError(code, message, param === null ? {} : { param });
}

function unread(): ApiError {
  const message = 'The gateway cannot read so large a body now. Try again, or send less at once.';
  return new ApiError('capacity_exhausted', message);
}
