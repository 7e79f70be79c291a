/**
 * Splits a text request for several answers (`n`, a list of prompts) into requests of one answer
 * each; at most as many run at once as slots were taken. Servers handle such requests differently:
 * some refuse more answers than they have slots, some make one, and some count the tokens of one.
 */
import { kindOf, promptsOf, withPrompt } from '@inference-gateway/shared/openai/kinds';
import {
  answersEach,
  CANDIDATE_COUNTS,
  SEQUENCE_COUNTS,
} from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { asObject, asObjects, parseJson } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import { eventOf } from '../openai-wire/stream-events.js';
import { addUsage, NO_USAGE, readUsage } from '../openai-wire/usage.js';
import { LocalFailure, LocalRefusal } from './backend.js';
import type { Backend, DocumentAnswer, EventAnswer, LocalAnswer, LocalCall } from './backend.js';

/** For all answers of one request together. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** One of a request's answers. */
interface Sequence {
  readonly call: LocalCall;
  /** The index of its choice in the answer. */
  readonly index: number;
  /** The first for its prompt: only its prompt tokens are counted. */
  readonly isFirst: boolean;
}

/** Runs a call; at most `parallel` answers are made at once. */
export function callInSequences(
  backend: Pick<Backend, 'call'>,
  call: LocalCall,
  parallel: number,
): Promise<LocalAnswer> {
  if (kindOf(call.endpoint).text === null) return backend.call(call);
  const prompts = promptsOf(call.endpoint, call.body);
  const each = answersEach(call.body);
  const isOne = prompts.length * each === 1;
  if (isOne && isPlain(call, prompts[0])) return backend.call(call);
  const sequences = sequencesOf(call, prompts, each);
  if (isOne) {
    const [only] = sequences;
    return backend.call(only?.call ?? call);
  }
  const running = new RunningSequences(backend, sequences, call);
  return call.body['stream'] === true ? running.stream(parallel) : running.document(parallel);
}

/** Such a request is sent unchanged. */
function isPlain({ endpoint, body }: LocalCall, prompt: unknown): boolean {
  const hasCandidates = CANDIDATE_COUNTS.some(
    (name) => body[name] === true || Number(body[name]) > 1,
  );
  return !hasCandidates && withPrompt(endpoint, body, prompt)['prompt'] === body['prompt'];
}

const COUNTS: ReadonlySet<string> = new Set([...SEQUENCE_COUNTS, ...CANDIDATE_COUNTS]);

/** Each is made when it starts: a request may have ten thousand fields and a thousand answers. */
function* sequencesOf(
  call: LocalCall,
  prompts: readonly unknown[],
  each: number,
): Generator<Sequence, void> {
  const { endpoint, body, promptTokens } = call;
  const common = Object.fromEntries(Object.entries(body).filter(([name]) => !COUNTS.has(name)));
  for (const [p, prompt] of prompts.entries()) {
    for (let n = 0; n < each; n++) {
      const single = withPrompt(endpoint, common, prompt);
      const { seed } = body;
      // The same seed would make the same answer.
      if (n > 0 && typeof seed === 'number' && seed >= 0) single['seed'] = seed + n;
      const told = promptTokens && { promptTokens: promptTokens.slice(p, p + 1) };
      yield { call: { ...call, body: single, ...told }, index: p * each + n, isFirst: n === 0 };
    }
  }
}

/** The next event of one running answer. */
interface Lane {
  readonly sequence: Sequence;
  answer: EventAnswer | null;
  next: IteratorResult<string, TokenUsage | null> | null;
  /** From its usage chunk, with the details. */
  usage: JsonObject | null;
  pending: Promise<Lane>;
}

class RunningSequences {
  readonly #backend: Pick<Backend, 'call'>;
  readonly #waiting: Generator<Sequence, void>;
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;
  readonly #wantsUsage: boolean;
  #usage: JsonObject | null = null;
  #frame: JsonObject | null = null;

  constructor(
    backend: Pick<Backend, 'call'>,
    sequences: Generator<Sequence, void>,
    { signal, body }: LocalCall,
  ) {
    this.#backend = backend;
    this.#waiting = sequences;
    this.#signal = AbortSignal.any([signal, this.#stopping.signal]);
    this.#wantsUsage = asObject(body['stream_options'])?.['include_usage'] === true;
  }

  /** All of them as one answer, once the last is complete. */
  async document(parallel: number): Promise<LocalAnswer> {
    const answers: JsonObject[] = [];
    let bytes = 0;
    let fault: { readonly error: unknown } | null = null;
    const work = async (): Promise<void> => {
      for (const { call, index, isFirst } of this.#waiting) {
        const answer = await this.#call(call);
        if (answer.kind !== 'document') throw new LocalFailure('LOCAL_ERROR', NOT_WHOLE);
        bytes += answer.json.length;
        if (bytes > MAX_DOCUMENT_BYTES) throw new LocalFailure('LOCAL_ERROR', TOO_LONG);
        const document = asObject(parseJson(answer.json)) ?? {};
        answers[index] = {
          ...document,
          choices: [{ ...asObjects(document['choices'])[0], index }],
        };
        this.#count(answer.usage === null ? null : asObject(document['usage']), isFirst);
      }
    };
    const stop = (error: unknown): void => {
      fault ??= { error };
      this.#stopping.abort();
    };
    // The slots are free once all of them have stopped.
    await Promise.all(Array.from({ length: parallel }, () => work().catch(stop)));
    if (fault !== null) return refusedOr((fault as { readonly error: unknown }).error);
    const choices = answers.flatMap((answer) => asObjects(answer['choices']));
    const usage = readUsage(this.#usage);
    const json = { ...answers[0], choices, usage: this.#usage ?? NO_USAGE };
    return { kind: 'document', status: 200, json: JSON.stringify(json), usage };
  }

  /** Their events as they arrive, each with the index of its choice. */
  async stream(parallel: number): Promise<LocalAnswer> {
    const lanes = new Set<Lane>();
    for (let n = 0; n < parallel; n++) this.#open(lanes);
    try {
      await Promise.race(Array.from(lanes, ({ pending }) => pending));
    } catch (error) {
      await this.#stop(lanes);
      return refusedOr(error);
    }
    return { kind: 'events', events: this.#events(lanes), soFar: () => this.#soFar(lanes) };
  }

  async *#events(lanes: Set<Lane>): EventAnswer['events'] {
    try {
      while (lanes.size > 0) {
        const lane = await Promise.race(Array.from(lanes, ({ pending }) => pending));
        const text = this.#take(lane, lanes);
        if (text !== '') yield text;
      }
      if (this.#wantsUsage && this.#usage !== null) {
        yield eventOf({ ...this.#frame, choices: [], usage: this.#usage });
      }
      return readUsage(this.#usage);
    } finally {
      await this.#stop(lanes);
    }
  }

  /** Handles the next event of one answer. If the answer has ended, the next one starts. */
  #take(lane: Lane, lanes: Set<Lane>): string {
    const { next, sequence } = lane;
    if (next !== null && next.done !== true) {
      this.#advance(lane);
      return this.#renumbered(next.value, lane);
    }
    lanes.delete(lane);
    this.#count(lane.usage ?? next?.value ?? null, sequence.isFirst);
    this.#open(lanes);
    return '';
  }

  #renumbered(events: string, lane: Lane): string {
    const { index } = lane.sequence;
    let text = '';
    for (const event of events.split('\n\n')) {
      if (event === '') continue;
      const chunk = asObject(parseJson(event.slice('data: '.length))) ?? {};
      const { choices, usage, ...frame } = chunk;
      this.#frame ??= frame;
      const [choice] = asObjects(choices);
      if (choice === undefined) lane.usage = asObject(usage);
      else {
        const { id, created } = this.#frame;
        text += eventOf({ ...frame, id, created, choices: [{ ...choice, index }] });
      }
    }
    return text;
  }

  #count(usage: object | null, isFirst: boolean): void {
    if (usage !== null) this.#usage = addUsage(this.#usage, { ...usage }, isFirst);
  }

  #open(lanes: Set<Lane>): void {
    const { value: sequence, done } = this.#waiting.next();
    if (done === true) return;
    const lane: Lane = {
      sequence,
      answer: null,
      next: null,
      usage: null,
      pending: new Promise(() => {}),
    };
    lanes.add(lane);
    this.#advance(lane);
  }

  #advance(lane: Lane): void {
    lane.pending = this.#nextOf(lane);
    // The reader that races for it gets the error; without a reader it is irrelevant.
    lane.pending.catch(() => undefined);
  }

  async #nextOf(lane: Lane): Promise<Lane> {
    lane.answer ??= await this.#eventsOf(lane.sequence);
    lane.next = await lane.answer.events.next();
    return lane;
  }

  async #eventsOf({ call }: Sequence): Promise<EventAnswer> {
    const answer = await this.#call(call);
    if (answer.kind !== 'events') throw new LocalFailure('LOCAL_ERROR', NOT_WHOLE);
    return answer;
  }

  /** Usage of finished and of started answers. */
  #soFar(lanes: ReadonlySet<Lane>): TokenUsage | null {
    let sum = this.#usage;
    for (const { answer, next, sequence } of lanes) {
      const usage = next === null ? null : (answer?.soFar() ?? null);
      if (usage !== null) sum = addUsage(sum, { ...usage }, sequence.isFirst);
    }
    return readUsage(sum);
  }

  async #call(call: LocalCall): Promise<LocalAnswer> {
    const answer = await this.#backend.call({ ...call, signal: this.#signal });
    if (answer.kind === 'document' && answer.status >= 400) throw new LocalRefusal(REFUSED, answer);
    return answer;
  }

  async #stop(lanes: ReadonlySet<Lane>): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(Array.from(lanes, ({ pending }) => pending));
    await Promise.allSettled(Array.from(lanes, async ({ answer }) => answer?.events.return(null)));
  }
}

const REFUSED = 'the local server refused one of the answers.';
const NOT_WHOLE = 'the local server answered something else than was asked.';
const TOO_LONG = `the answers are longer than ${MAX_DOCUMENT_BYTES} bytes together.`;

/** A refusal of one answer refuses the request. Rethrows other errors. */
function refusedOr(error: unknown): DocumentAnswer {
  if (error instanceof LocalRefusal) return error.answer;
  throw error;
}
