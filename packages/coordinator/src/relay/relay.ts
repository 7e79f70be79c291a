/**
 * Synchronous calls: find a slot, send, and try another provider for as long as nothing of an
 * answer has gone to the caller. Source: decisions, section 3.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { setMaxListeners } from 'node:events';
import type { Choice } from '../core/routing/match.js';
import type { Sessions } from '../core/routing/links.js';
import { capTokens } from '../core/usage/token-cap.js';
import { NO_TOKENS, sizeOf } from '../core/usage/usage-bounds.js';
import type { RequestSize } from '../core/usage/usage-bounds.js';
import { Attempt } from '../run/attempt.js';
import type { AttemptTiming } from '../run/attempt.js';
import { Conversations } from './conversations.js';
import { judge, reportOf } from '../run/failure.js';
import type { Blame } from '../run/failure.js';
import { Placement } from './placement.js';
import type { PlacementTiming } from './placement.js';
import { Admission } from './admission.js';
import { WaitingLine } from './waiting-line.js';
import type { Outcome, Sink, Work } from '../run/work.js';

/** A failed provider is replaced at most twice. */
const MAX_REPLACEMENTS = 2;
/**
 * A provider that says "not now" costs no replacement, but somebody who always says so must end.
 */
const MAX_REFUSALS = 120;

export interface DirectTiming extends AttemptTiming, PlacementTiming {
  readonly maxConcurrent: number;
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

interface Sent {
  readonly attempt: Attempt;
  readonly choice: Choice;
}

export class Direct {
  readonly #sessions: Sessions;
  readonly #timing: DirectTiming;
  readonly #admission: Admission;
  readonly #placement: Placement;
  readonly #conversations = new Conversations();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  #underWay = 0;
  #idle: (() => void)[] = [];

  constructor(sessions: Sessions, timing: DirectTiming) {
    this.#sessions = sessions;
    this.#timing = timing;
    const closing = this.#closing.signal;
    // Everybody who waits listens to it; the lines themselves are what is limited.
    setMaxListeners(0, closing);
    this.#admission = new Admission(timing.maxConcurrent, timing.syncWaitMs, closing);
    const line = new WaitingLine((serve) => this.#placement.atOneMoment(serve));
    const conversations = this.#conversations;
    this.#placement = new Placement(sessions, { line, timing, closing, conversations });
    this.#stopListening = sessions.onCapacity(line.wake);
  }

  /** Runs the work to its end; never rejects: what went wrong is in the outcome. */
  async run(work: Work, sink: Sink): Promise<Outcome> {
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

  async #runInside(work: Work, sink: Sink, progress: Progress): Promise<Outcome> {
    try {
      return await this.#tryProviders(work, sink, progress);
    } finally {
      this.#admission.leave(work.caller.memberId);
    }
  }

  async #tryProviders(work: Work, sink: Sink, progress: Progress): Promise<Outcome> {
    for (;;) {
      const { attempt, choice } = await this.#send(work, sink, progress);
      const result = await attempt.result;
      progress.providerId = choice.providerId;
      progress.firstByteAt = attempt.firstByteAt;
      if (result.kind === 'gone') {
        this.#sessions.report(choice, { kind: 'nothing' });
        return conclude(work, progress, { kind: 'canceled', tokens: attempt.tokens });
      }
      if (result.kind === 'done') {
        this.#sessions.report(choice, { kind: 'ok', measured: result.measured });
        this.#conversations.served(work, choice.providerId);
        return conclude(work, progress, { kind: 'ok', tokens: result.tokens });
      }
      const { blame, error } = judge(result.failure, choice.providerName);
      this.#sessions.report(choice, reportOf(result.failure, blame, work.endpoint));
      noteFailure(progress, blame, choice);
      if (blame === 'failed' || blame === 'wait') progress.lastError = error;
      if (blame === 'final' || sink.committed || this.#isSpent(work, progress, blame)) {
        // Of an answer that nobody was given nothing counts.
        const tokens = sink.committed ? attempt.tokens : NO_TOKENS;
        return conclude(work, progress, { kind: 'failed', error, tokens });
      }
    }
  }

  #isSpent(work: Work, progress: Progress, blame: Blame): boolean {
    if (progress.replacements > MAX_REPLACEMENTS || progress.refusals > MAX_REFUSALS) return true;
    const { syncWaitMs, syncDeadlineMs } = this.#timing;
    const passedMs = performance.now() - work.receivedAt;
    if (passedMs >= Math.min(syncDeadlineMs, work.limitMs ?? Infinity)) return true;
    return blame === 'wait' && passedMs > syncWaitMs;
  }

  /**
   * Places the work; where no other provider is left, the error of the last one tells more than a
   * 404.
   */
  async #send(work: Work, sink: Sink, progress: Progress): Promise<Sent> {
    const queuedAt = performance.now();
    const start = (choice: Choice): Sent | null => {
      const now = performance.now();
      const queueMs = progress.queueMs + now - queuedAt;
      progress.overheadMs ??= now - work.receivedAt - queueMs;
      const { overheadMs } = progress;
      const attempt = progress.attempts + 1;
      return this.#open(choice, { work, sink, attempt, queueMs, overheadMs });
    };
    try {
      const sent = await this.#placement.place({ work, excluded: progress.excluded, start });
      progress.attempts += 1;
      return sent;
    } catch (error) {
      throw progress.lastError ?? error;
    } finally {
      progress.queueMs += performance.now() - queuedAt;
    }
  }

  #open(
    choice: Choice,
    call: { work: Work; sink: Sink; attempt: number; queueMs: number; overheadMs: number },
  ): Sent | null {
    const { work } = call;
    const { grant } = choice;
    const { body, maxTokens } = capTokens(work.body, work.endpoint, grant.maxTokens);
    const timing = this.#timing;
    // A long answer that has begun is proof enough: others need not wait for its end.
    const onAnswer = (): void => {
      if (choice.health === 'probe') this.#sessions.report(choice, { kind: 'ok', measured: null });
    };
    const { sequences } = work;
    const request = (): RequestSize => sizeOf(body);
    const allowed = { request, sequences, maxTokens: maxTokens ?? work.maxTokens };
    const attempt = new Attempt({
      ...call,
      candidate: choice,
      maxTokens,
      timing,
      allowed,
      onAnswer,
    });
    const own = grant.shareId === null;
    const exchange = this.#sessions.open(
      choice,
      {
        job: null,
        endpoint: work.endpoint,
        model: work.model,
        caller: { name: work.caller.memberName, own },
        memberId: work.caller.memberId,
        body,
        uploads: work.uploads,
        sequences: work.sequences,
        deadlineMs: attempt.agentDeadlineMs,
        attempt: call.attempt,
        requestId: work.requestId,
        ...(work.reasoningField !== undefined && { reasoningField: work.reasoningField }),
      },
      attempt,
    );
    if (exchange === null) return null;
    attempt.begin(exchange);
    return { attempt, choice };
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
function internalError(work: Work, cause: unknown): ApiError {
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
  work: Work,
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
