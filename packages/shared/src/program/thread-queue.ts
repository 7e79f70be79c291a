/**
 * Large blocks of bytes that are worked on in a thread, one after the other: on the event loop,
 * every stream and every link would wait for it. Those who ask take turns, so that nobody's many
 * blocks keep another's waiting. A thread that runs out of memory or time is replaced.
 */
import { parentPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

/** Blocks that wait for the thread; whoever asks counts their memory. */
const MAX_WAITING = 256;
/** Of one asker: nobody's take all places. */
const MAX_WAITING_OF_ONE = MAX_WAITING / 4;
/** A block that takes longer ends the thread. */
const MAX_BLOCK_MS = 30_000;
const MEMORY_MIB = 2_048;
/** A thread without work keeps its memory so long. */
const IDLE_MS = 60_000;
/** Smaller buffers may share their memory with others, and are copied. */
const MIN_OWN_BYTES = 256 * 1024;

/** What the thread is asked: the bytes are the first `length` of the block. */
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
  /** By asker; whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting<Question, Answer>[]>();
  #count = 0;
  #underWay: Waiting<Question, Answer> | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Blocks that were worked on so far. */
  done = 0;

  /**
   * `file` calls `answerInThread`. `unanswered` is the error of whoever finds no place or whose
   * block ended the thread.
   */
  constructor(file: URL, unanswered: () => Error) {
    this.#file = file;
    this.#unanswered = unanswered;
  }

  /** Takes the memory of a large block over: who asks must not read it again. */
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

  /** The block under way is lost, and the next one has another thread. */
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

  /** Unless something else is said before. */
  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (worker !== null) this.#timer = setTimeout(() => void worker.terminate(), ms).unref();
  }
}

/** The thread's side of a `ThreadQueue` with the same two types. */
export interface ThreadSide<Question, Answer> {
  readonly answerTo: (question: Question, bytes: Buffer) => Answer;
  /** Blocks that are handed over and not copied, each of memory of its own (`ownBlock`). */
  readonly blocksOf: (answer: Answer) => readonly Uint8Array[];
}

// What is asked comes from the other thread, whose queue names the same types.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function answerInThread<Question, Answer>(side: ThreadSide<Question, Answer>): void {
  const port = parentPort as MessagePort;
  port.on('message', ({ question, buffer, length }: Asked<Question>) => {
    const answer = side.answerTo(question, Buffer.from(buffer, 0, length));
    const blocks = side.blocksOf(answer).map((block) => block.buffer as ArrayBuffer);
    port.postMessage(answer, blocks);
  });
}

/** A copy, of its own memory: small buffers share one. */
export function ownBlock(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
