/**
 * Synchronous calls: find a slot, send, and try another provider for as long as nothing of an
 * answer has gone to the caller. Source: decisions, section 3.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { setMaxListeners } from 'node:events';
import type { Choice } from '../core/routing/match.js';
import type { Links } from '../core/routing/links.js';
import { NO_TOKENS } from '../core/usage/usage-bounds.js';
import type { Attempt, AttemptTiming } from '../run/attempt.js';
import { Conversations } from './conversations.js';
import { judge, reportOf } from '../run/failure.js';
import type { Blame } from '../run/failure.js';
import { Placement } from './placement.js';
import type { PlacementTiming } from './placement.js';
import { Admission } from './admission.js';
import { WaitingLine } from './waiting-line.js';
import { send } from '../run/send.js';
import type { Call, Outcome, Sink, SpentTime } from '../run/work.js';

/** A failed provider is replaced at most twice. */
const MAX_REPLACEMENTS = 2;
/**
 * A provider that says "not now" costs no replacement, but somebody who always says so must end.
 */
const MAX_REFUSALS = 120;

export interface RelayTiming extends PlacementTiming {
  readonly maxConcurrent: number;
  /** From a call's arrival to the end of its answer, or to the head of one that is streamed. */
  readonly syncDeadlineMs: number;
  /** Of a streamed answer: to its first byte, and between any two. */
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** What became of a call so far. */
interface Progress {
  attempts: number;
  replacements: number;
  refusals: number;
  queueMs: number;
  /** From the request's arrival to its first sending, less the wait for a slot. */
  overheadMs: number | null;
  readonly excluded: Set<string>;
  lastError: ApiError | null;
  providerId: string | null;
  firstByteAt: number | null;
}

interface Tried {
  readonly attempt: Attempt;
  readonly choice: Choice;
}

export class Relay {
  readonly #links: Links;
  readonly #timing: RelayTiming;
  readonly #admission: Admission;
  readonly #placement: Placement;
  readonly #conversations = new Conversations();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  #underWay = 0;
  #idle: (() => void)[] = [];

  constructor(links: Links, timing: RelayTiming) {
    this.#links = links;
    this.#timing = timing;
    const closing = this.#closing.signal;
    // Everybody who waits listens to it; the lines themselves are what is limited.
    setMaxListeners(0, closing);
    this.#admission = new Admission(timing.maxConcurrent, timing.syncWaitMs, closing);
    const line = new WaitingLine((serve) => this.#placement.atOneMoment(serve));
    const conversations = this.#conversations;
    this.#placement = new Placement(links, { line, timing, closing, conversations });
    this.#stopListening = links.onCapacity(line.wake);
  }

  /** Runs the work to its end; never rejects: what went wrong is in the outcome. */
  async run(work: Call, sink: Sink): Promise<Outcome> {
    const progress = newProgress();
    this.#underWay += 1;
    try {
      // Whoever left while the request was read would be waited for by nobody's leaving.
      if (work.signal.aborted) return conclude(work, progress, { kind: 'canceled' });
      const { memberId, limits } = work.caller;
      await this.#admission.enter(memberId, work.signal, limits.concurrent);
      return await this.#runInside(work, sink, progress);
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : internalError(work, thrown);
      const kind = work.signal.aborted ? 'canceled' : 'failed';
      return conclude(work, progress, { kind, error });
    } finally {
      this.#leave();
    }
  }

  /** Calls that have begun and not ended. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Resolves once no call is under way. */
  async drained(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Nobody waits for a slot any longer: whoever does is told that the gateway restarts. */
  close(): void {
    this.#stopListening();
    this.#closing.abort();
  }

  async #runInside(work: Call, sink: Sink, progress: Progress): Promise<Outcome> {
    try {
      return await this.#tryProviders(work, sink, progress);
    } finally {
      this.#admission.leave(work.caller.memberId);
    }
  }

  async #tryProviders(work: Call, sink: Sink, progress: Progress): Promise<Outcome> {
    for (;;) {
      const { attempt, choice } = await this.#send(work, sink, progress);
      const result = await attempt.result;
      progress.providerId = choice.providerId;
      progress.firstByteAt = attempt.firstByteAt;
      if (result.kind === 'gone') {
        this.#links.report(choice, { kind: 'nothing' });
        return conclude(work, progress, { kind: 'canceled', tokens: attempt.tokens });
      }
      if (result.kind === 'done') {
        this.#links.report(choice, { kind: 'ok', measured: result.measured });
        this.#conversations.served(work, choice.providerId);
        return conclude(work, progress, { kind: 'ok', tokens: result.tokens });
      }
      const verdict = judge(result.failure, choice.providerName);
      const { blame, error } = verdict;
      this.#links.report(choice, reportOf(result.failure, verdict, work.endpoint));
      noteFailure(progress, blame, choice);
      if (blame === 'failed' || blame === 'wait') progress.lastError = error;
      if (blame === 'final' || sink.committed || this.#isSpent(work, progress, blame)) {
        // Of an answer that nobody was given nothing counts.
        const tokens = sink.committed ? attempt.tokens : NO_TOKENS;
        return conclude(work, progress, { kind: 'failed', error, tokens });
      }
    }
  }

  #isSpent(work: Call, progress: Progress, blame: Blame): boolean {
    if (progress.replacements > MAX_REPLACEMENTS || progress.refusals > MAX_REFUSALS) return true;
    const passedMs = performance.now() - work.receivedAt;
    if (passedMs >= this.#timingOf(work).deadlineMs) return true;
    return blame === 'wait' && passedMs > this.#timing.syncWaitMs;
  }

  /**
   * Places the work; where no other provider is left, the error of the last one tells more than a
   * 404.
   */
  async #send(work: Call, sink: Sink, progress: Progress): Promise<Tried> {
    const queuedAt = performance.now();
    const start = (choice: Choice): Tried | null => {
      const now = performance.now();
      const queueMs = progress.queueMs + now - queuedAt;
      progress.overheadMs ??= now - work.receivedAt - queueMs;
      const spent = { queueMs, overheadMs: progress.overheadMs };
      return this.#open(choice, { work, sink, attempt: progress.attempts + 1, spent });
    };
    try {
      const tried = await this.#placement.place({ work, excluded: progress.excluded, start });
      progress.attempts += 1;
      return tried;
    } catch (error) {
      throw progress.lastError ?? error;
    } finally {
      progress.queueMs += performance.now() - queuedAt;
    }
  }

  #open(
    choice: Choice,
    call: { work: Call; sink: Sink; attempt: number; spent: SpentTime },
  ): Tried | null {
    const sent = send({
      ...call,
      choice,
      job: null,
      timing: this.#timingOf(call.work),
      open: (request, handler) => this.#links.open(choice, request, handler),
      // A long answer that has begun is proof enough: others need not wait for its end.
      onAnswer: () => {
        if (choice.health !== 'probe') return;
        this.#links.report(choice, { kind: 'ok', measured: null });
      },
    });
    return sent === null ? null : { attempt: sent.attempt, choice };
  }

  #timingOf({ stream, limitMs }: Call): AttemptTiming {
    const { syncDeadlineMs, firstByteMs, idleMs } = this.#timing;
    return {
      deadlineMs: Math.min(syncDeadlineMs, limitMs ?? Infinity),
      isCallers: (limitMs ?? Infinity) < syncDeadlineMs,
      stream: stream ? { firstByteMs, idleMs } : null,
    };
  }

  #leave(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function noteFailure(progress: Progress, blame: Blame, { providerId }: Choice): void {
  if (blame === 'final') return;
  if (blame === 'failed') progress.replacements += 1;
  else progress.refusals += 1;
  if (blame !== 'wait') progress.excluded.add(providerId);
}

/** Our own bug is an outcome as well: a stream whose headers are out must still come to an end. */
function internalError(work: Call, cause: unknown): ApiError {
  const message = `The gateway failed. Tell its admin the request id ${work.requestId}.`;
  return new ApiError('internal_error', message, { cause });
}

function newProgress(): Progress {
  return {
    attempts: 0,
    replacements: 0,
    refusals: 0,
    queueMs: 0,
    overheadMs: null,
    excluded: new Set(),
    lastError: null,
    providerId: null,
    firstByteAt: null,
  };
}

function conclude(
  work: Call,
  progress: Progress,
  end: { kind: Outcome['kind']; error?: ApiError; tokens?: Outcome['tokens'] },
): Outcome {
  const { attempts, queueMs, providerId, firstByteAt } = progress;
  return {
    kind: end.kind,
    error: end.error ?? null,
    totalMs: Math.round(performance.now() - work.receivedAt),
    tokens: end.tokens ?? NO_TOKENS,
    providerId,
    attempts,
    queueMs: Math.round(queueMs),
    firstByteMs: firstByteAt === null ? null : Math.round(firstByteAt - work.receivedAt),
  };
}
