/**
 * Large JSON bodies are parsed, checked and written again in a thread of their own: on the loop,
 * every stream and every agent's link would wait for it. What comes back is small values and bytes
 * (`core/sparse-json.ts`). Members take turns, so that nobody's many large bodies keep another's
 * waiting. Large transcripts, which agents send, are read and written there, too.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type { ParsedRequest } from '@inference-gateway/shared/openai/requests';
import type { WebhookWish } from '@inference-gateway/shared/openai/webhook';
import { Worker } from 'node:worker_threads';
import { sparseBody } from '../core/sparse-json.js';
import type { Rendered } from './answers/json-answer.js';
import type { TranscriptFacts } from './answers/transcript.js';
import type { Judged, JudgedBatch, JudgedRequest, Question, Reading } from './judge-body.js';

/** Up to both, a body is read on the loop: some milliseconds (`npm run bench -- bodies`). */
export const MAX_SMALL_BYTES = 256 * 1024;
export const MAX_SMALL_VALUES = 5_000;
/** Bodies that wait for the thread; their memory is counted besides. */
const MAX_WAITING_BODIES = 256;
/** Of one member: nobody's take all places. */
const MAX_WAITING_OF_MEMBER = MAX_WAITING_BODIES / 4;
/** A body that takes longer ends the thread. */
const MAX_READ_MS = 30_000;
const MEMORY_MIB = 2_048;
const WORKER_FILE = new URL('./large-bodies-worker.js', import.meta.url);

export type ThreadQuestion =
  Question | { readonly kind: 'transcript'; readonly facts: TranscriptFacts };

/** What the thread is asked: the body is the first `length` bytes of the block. */
export interface Asked {
  readonly question: ThreadQuestion;
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

export interface Written {
  readonly request: Omit<ParsedRequest, 'body'>;
  readonly body: Uint8Array;
  readonly reading: Reading;
}

/** Its code is null where it is our own. */
export interface Fault {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly param: string | null;
}

export type Answer =
  | ({ readonly kind: 'request'; readonly isSubmission: boolean } & Written)
  | {
      readonly kind: 'batch';
      readonly items: readonly ({ readonly endpoint: EndpointKey } & Written)[];
      readonly label: string | null;
      readonly webhook: WebhookWish | null;
    }
  | {
      readonly kind: 'transcript';
      /** Or what is wrong with the document. */
      readonly rendered: WrittenTranscript | string;
    }
  | { readonly kind: 'fault'; readonly isSubmission: boolean; readonly fault: Fault };

export interface WrittenTranscript extends Omit<Rendered, 'body'> {
  readonly body: Uint8Array;
}

interface Waiting {
  readonly question: ThreadQuestion;
  readonly bytes: Buffer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class LargeBodies {
  /** By member; whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;
  #underWay: Waiting | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Bodies that were read so far. */
  read = 0;

  async judgeRequest(
    bytes: Buffer,
    question: Extract<Question, { kind: 'request' }>,
  ): Promise<Judged<JudgedRequest>> {
    const answer = await this.#ask(question.memberId, question, bytes);
    if (answer.kind !== 'request' && answer.kind !== 'fault') throw new TypeError(answer.kind);
    const { isSubmission } = answer;
    return { isSubmission, take: () => requestOf(answer) };
  }

  async judgeBatch(
    bytes: Buffer,
    memberId: string,
    question: Extract<Question, { kind: 'batch' }>,
  ): Promise<JudgedBatch> {
    const answer = await this.#ask(memberId, question, bytes);
    if (answer.kind === 'fault') throw errorOf(answer.fault);
    if (answer.kind !== 'batch') throw new TypeError(answer.kind);
    const { items, label, webhook } = answer;
    return {
      items: items.map(({ endpoint, ...one }) => ({ endpoint, ...whole(one) })),
      label,
      webhook,
    };
  }

  /** Where the thread cannot, the caller is told so: its provider has done what was asked. */
  async renderTranscript(
    document: Buffer,
    memberId: string,
    facts: TranscriptFacts,
  ): Promise<Rendered | ApiError | string> {
    // A copy, which is handed over: whoever holds the document holds it on.
    const copy = Buffer.from(document);
    const answer = await this.#ask(memberId, { kind: 'transcript', facts }, copy).catch(refused);
    if (answer instanceof ApiError) return answer;
    if (answer.kind === 'fault') {
      const error = errorOf(answer.fault);
      if (error instanceof ApiError) return error;
      throw error;
    }
    if (answer.kind !== 'transcript') throw new TypeError(answer.kind);
    const { rendered } = answer;
    if (typeof rendered === 'string') return rendered;
    const { buffer, byteOffset, length } = rendered.body;
    return { ...rendered, body: Buffer.from(buffer, byteOffset, length) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const list of this.#waiting.values()) for (const { reject } of list) reject(unread());
    this.#waiting.clear();
    const worker = this.#worker;
    if (worker === null) return;
    this.#lose(worker);
    await worker.terminate();
  }

  #ask(memberId: string, question: ThreadQuestion, bytes: Buffer): Promise<Answer> {
    const list = this.#waiting.get(memberId) ?? [];
    const isFull = this.#count >= MAX_WAITING_BODIES || list.length >= MAX_WAITING_OF_MEMBER;
    if (this.#isClosed || isFull) return Promise.reject(unread());
    return new Promise((resolve, reject) => {
      list.push({ question, bytes, resolve, reject });
      this.#waiting.set(memberId, list);
      this.#count += 1;
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay !== null) return;
    const [turn] = this.#waiting;
    const next = turn?.[1].shift();
    if (turn === undefined || next === undefined) return;
    const [memberId, rest] = turn;
    this.#waiting.delete(memberId);
    if (rest.length > 0) this.#waiting.set(memberId, rest);
    this.#count -= 1;
    this.#underWay = next;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#timer = setTimeout(() => void worker.terminate(), MAX_READ_MS);
    const { question, bytes } = next;
    // Gathered from many pieces, a large body has its memory to itself, and hands it over.
    const isOwn = bytes.length > MAX_SMALL_BYTES && bytes.byteOffset === 0;
    const own = isOwn ? bytes : new Uint8Array(bytes);
    const buffer = own.buffer as ArrayBuffer;
    const asked: Asked = { question, buffer, length: bytes.length };
    worker.postMessage(asked, [buffer]);
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MIB };
    const worker = new Worker(WORKER_FILE, { resourceLimits });
    worker.unref();
    worker.on('message', (answer: Answer) => {
      if (worker === this.#worker) this.#finish(answer);
    });
    worker.on('error', () => this.#lose(worker));
    worker.on('exit', () => this.#lose(worker));
    return worker;
  }

  /** Out of memory or time: the body under way is lost, and the next one has another thread. */
  #lose(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#finish(null);
  }

  #finish(answer: Answer | null): void {
    clearTimeout(this.#timer);
    const done = this.#underWay;
    this.#underWay = null;
    this.read += 1;
    if (answer === null) done?.reject(unread());
    else done?.resolve(answer);
    if (!this.#isClosed) this.#next();
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

function whole({ request, body, reading }: Written): JudgedRequest {
  return { request: { ...request, body: sparseBody(body) }, reading };
}

function errorOf({ code, message, param }: Fault): Error {
  if (code === null) return new Error(message);
  return new ApiError(code, message, param === null ? {} : { param });
}

function unread(): ApiError {
  const message = 'The gateway cannot read so large a body now. Try again, or send less at once.';
  return new ApiError('capacity_exhausted', message);
}
