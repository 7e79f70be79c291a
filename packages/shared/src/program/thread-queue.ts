/**
 * A queue of large blocks of bytes for a thread, one after the other: on the event loop, all
 * streams and links would wait. Owners take turns, so that one owner's many blocks do not delay
 * another's. A thread that runs out of memory or time is replaced.
 */
import { parentPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

/** Most waiting blocks; their memory is counted by the caller. */
const MAX_WAITING = 256;
/** Most waiting blocks per owner, so that none takes all places. */
const MAX_WAITING_OF_ONE = MAX_WAITING / 4;
/** A block that takes longer ends the thread. Ms. */
const MAX_BLOCK_MS = 30_000;
const MEMORY_MIB = 2_048;
/** A thread without work is ended after this time, to free its memory. */
const IDLE_MS = 60_000;
/** Smaller buffers may share their memory with others, and are copied. */
const MIN_OWN_BYTES = 256 * 1024;

/** A task for the thread: the bytes are the first `length` of the block. */
interface Asked<Question> {
  readonly question: Question;
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly bytes: Buffer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class ThreadQueue<Question, Answer> {
  readonly #file: URL;
  readonly #unanswered: () => Error;
  /** By owner; the next in turn is the first. */
  readonly #waiting = new Map<string, Waiting<Question, Answer>[]>();
  #count = 0;
  #underWay: Waiting<Question, Answer> | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Number of processed blocks. */
  done = 0;

  /**
   * `file` calls `answerInThread`. `unanswered`: the error if the queue is full, or the block ended
   * the thread.
   */
  constructor(file: URL, unanswered: () => Error) {
    this.#file = file;
    this.#unanswered = unanswered;
  }

  /** Transfers the memory of a large block: the caller must not read it again. */
  ask(asker: string, question: Question, bytes: Buffer): Promise<Answer> {
    const list = this.#waiting.get(asker) ?? [];
    const isFull = this.#count >= MAX_WAITING || list.length >= MAX_WAITING_OF_ONE;
    if (this.#isClosed || isFull) return Promise.reject(this.#unanswered());
    return new Promise((resolve, reject) => {
      list.push({ question, bytes, resolve, reject });
      this.#waiting.set(asker, list);
      this.#count += 1;
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { reject } of waiting) reject(this.#unanswered());
    const worker = this.#worker;
    if (worker === null) return;
    this.#lose(worker);
    await worker.terminate();
  }

  #next(): void {
    if (this.#underWay !== null) return;
    const [turn] = this.#waiting;
    const next = turn?.[1].shift();
    if (turn === undefined || next === undefined) return;
    const [asker, rest] = turn;
    this.#waiting.delete(asker);
    if (rest.length > 0) this.#waiting.set(asker, rest);
    this.#count -= 1;
    this.#underWay = next;
    this.#worker ??= this.#start();
    this.#endAfter(MAX_BLOCK_MS);
    const worker = this.#worker;
    const { question, bytes } = next;
    const isOwn = bytes.length > MIN_OWN_BYTES && bytes.byteOffset === 0;
    const own = isOwn ? bytes : new Uint8Array(bytes);
    const buffer = own.buffer as ArrayBuffer;
    const asked: Asked<Question> = { question, buffer, length: bytes.length };
    worker.postMessage(asked, [buffer]);
  }

  #start(): Worker {
    const worker = new Worker(this.#file, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    });
    worker.unref();
    worker.on('message', (answer: Answer) => {
      if (worker === this.#worker) this.#finish(answer);
    });
    worker.on('error', () => this.#lose(worker));
    worker.on('exit', () => this.#lose(worker));
    return worker;
  }

  /** The current block is lost, and the next one gets another thread. */
  #lose(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    if (this.#underWay !== null) this.#finish(null);
  }

  #finish(answer: Answer | null): void {
    clearTimeout(this.#timer);
    const done = this.#underWay;
    this.#underWay = null;
    this.done += 1;
    if (answer === null) done?.reject(this.#unanswered());
    else done?.resolve(answer);
    if (this.#isClosed) return;
    this.#endAfter(IDLE_MS);
    this.#next();
  }

  /** The default, unless set otherwise before. */
  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (worker !== null) this.#timer = setTimeout(() => void worker.terminate(), ms).unref();
  }
}

/** The thread's side of a `ThreadQueue` with the same two types. */
export interface ThreadSide<Question, Answer> {
  readonly answerTo: (question: Question, bytes: Buffer) => Answer;
  /** Blocks that are transferred instead of copied, each with its own memory (`ownBlock`). */
  readonly blocksOf: (answer: Answer) => readonly Uint8Array[];
}

// Tasks come from the other thread, whose queue has the same types.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function answerInThread<Question, Answer>(side: ThreadSide<Question, Answer>): void {
  const port = parentPort as MessagePort;
  port.on('message', ({ question, buffer, length }: Asked<Question>) => {
    const answer = side.answerTo(question, Buffer.from(buffer, 0, length));
    const blocks = side.blocksOf(answer).map((block) => block.buffer as ArrayBuffer);
    port.postMessage(answer, blocks);
  });
}

/** A copy with its own memory, because small buffers share one. */
export function ownBlock(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
