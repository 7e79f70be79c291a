/**
 * Synchronous calls: finds a slot, sends the call, and tries another provider as long as no byte of
 * an answer has gone to the caller. Source: decisions, section 3.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { setMaxListeners } from 'node:events';
import type { SharedSlots } from '../limits/shared-slots.js';
import type { Choice } from '../core/routing/match.js';
import type { Links, StandIn, StandIns } from '../core/routing/links.js';
import { NO_TOKENS } from '../core/usage/usage-bounds.js';
import type { Attempt, AttemptTiming } from '../run/attempt.js';
import { aliasUnserved } from '../run/absence.js';
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
 * A provider that says "not now" costs no replacement, so providers that always say so need a
 * limit.
 */
const MAX_REFUSALS = 120;

export interface RelayTiming extends PlacementTiming {
  readonly maxConcurrent: number;
  /** From a call's arrival to the end of its answer, or to the headers of a streamed one. */
  readonly syncDeadlineMs: number;
  /** For a streamed answer: the time to its first byte, and between any two bytes. */
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** No provider of the model takes the call: the next model of an alias may. */
const ABSENCES: ReadonlySet<ErrorCode> = new Set([
  'model_not_found',
  'model_offline',
  'provider_error',
  'quota_exceeded',
]);

/** The state of a call so far. */
interface Progress {
  attempts: number;
  replacements: number;
  refusals: number;
  queueMs: number;
  /** From the request's arrival to its first sending, without the wait for a slot. */
  overheadMs: number | null;
  readonly excluded: Set<string>;
  lastError: ApiError | null;
  /** Why the first model that was sought had no provider. */
  absence: ApiError | null;
  providerId: string | null;
  /** The model that it was sent to last. */
  model: string | null;
  shareId: string | null;
  firstByteAt: number | null;
}

/** The call has ended, or this model cannot serve it. */
type ModelEnd = { readonly outcome: Outcome } | { readonly error: ApiError };

interface Tried {
  readonly attempt: Attempt;
  readonly choice: Choice;
}

/** Of several coordinators of a database. */
interface Shared {
  /** The slots of members whose calls others run, too. */
  readonly slots?: SharedSlots | null;
  /** False while it is not known who may use what; then no call is placed. */
  readonly isCurrent?: () => boolean;
}

const always = (): boolean => true;

export class Relay implements StandIns {
  readonly #links: Links;
  readonly #timing: RelayTiming;
  readonly #admission: Admission;
  readonly #placement: Placement;
  readonly #conversations = new Conversations();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  #underWay = 0;
  #idle: (() => void)[] = [];

  constructor(
    links: Links,
    timing: RelayTiming,
    { slots = null, isCurrent = always }: Shared = {},
  ) {
    this.#links = links;
    this.#timing = timing;
    const closing = this.#closing.signal;
    // Every waiting call adds a listener; the queues themselves are limited.
    setMaxListeners(0, closing);
    const { maxConcurrent: limit, syncWaitMs: waitMs } = timing;
    this.#admission = new Admission({ limit, waitMs, closing, slots });
    const line = new WaitingLine((serve) => this.#placement.atOneMoment(serve));
    const conversations = this.#conversations;
    this.#placement = new Placement(links, { line, timing, closing, conversations, isCurrent });
    this.#stopListening = links.onCapacity(line.wake);
  }

  /** Runs the work to its end. Never rejects: errors are in the outcome. */
  async run(work: Call, sink: Sink): Promise<Outcome> {
    const progress = newProgress();
    this.#underWay += 1;
    try {
      // If the caller left while the request was read, the abort event would never come.
      if (work.signal.aborted) return conclude(work, progress, { kind: 'canceled' });
      const { memberId, limits } = work.caller;
      const waiting = this.#admission.enter(memberId, work.signal, limits.concurrent);
      if (waiting !== null) await waiting;
      try {
        if (waiting !== null) await work.caller.confirm?.();
        return await this.#tryModels(work, sink, progress);
      } finally {
        this.#admission.leave(memberId);
      }
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : internalError(work, thrown);
      const kind = work.signal.aborted ? 'canceled' : 'failed';
      return conclude(work, progress, { kind, error });
    } finally {
      this.#leave();
    }
  }

  standIn(call: StandIn): () => void {
    return this.#placement.standIn(call);
  }

  /** Running calls. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Resolves once no call is running. */
  async drained(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Ends the wait of all calls for a slot, with the error that the gateway restarts. */
  close(): void {
    this.#stopListening();
    this.#closing.abort();
  }

  /** One model after the other: several under an alias. */
  async #tryModels(first: Call, sink: Sink, progress: Progress): Promise<Outcome> {
    let work = first;
    for (;;) {
      const end = await this.#tryProviders(work, sink, progress);
      if ('outcome' in end) return end.outcome;
      progress.absence ??= end.error;
      const isOver = this.#isLate(work) || work.signal.aborted;
      const next = isOver ? null : (work.next?.() ?? null);
      if (next === null) throw unserved(first, progress.lastError ?? progress.absence);
      progress.excluded.clear();
      progress.replacements = 0;
      work = next;
    }
  }

  /** One provider of a model after the other. */
  async #tryProviders(work: Call, sink: Sink, progress: Progress): Promise<ModelEnd> {
    for (;;) {
      // The first attempt follows the look at the key at once.
      if (progress.attempts > 0) await work.caller.confirm?.();
      const tried = await this.#send(work, sink, progress);
      if ('error' in tried) return tried;
      const { attempt, choice } = tried;
      const result = await attempt.result;
      progress.providerId = choice.providerId;
      progress.model = work.model;
      progress.shareId = choice.grant.shareId;
      progress.firstByteAt = attempt.firstByteAt;
      if (result.kind === 'gone') {
        this.#links.report(choice, { kind: 'nothing' });
        const { metered } = attempt;
        return { outcome: conclude(work, progress, { kind: 'canceled', metered }) };
      }
      if (result.kind === 'done') {
        this.#links.report(choice, { kind: 'ok', measured: result.measured });
        this.#conversations.served(work, choice.providerId);
        return { outcome: conclude(work, progress, { kind: 'ok', metered: result.metered }) };
      }
      const verdict = judge(result.failure, choice.providerName);
      const { blame, error } = verdict;
      this.#links.report(choice, reportOf(result.failure, verdict, work.endpoint));
      noteFailure(progress, blame, choice);
      if (blame === 'failed' || blame === 'wait') progress.lastError = error;
      if (blame === 'final' || sink.committed || this.#isSpent(work, progress, blame)) {
        // An answer that no caller received is not metered.
        const metered = sink.committed ? attempt.metered : NO_TOKENS;
        return { outcome: conclude(work, progress, { kind: 'failed', error, metered }) };
      }
      if (progress.replacements > MAX_REPLACEMENTS) return { error };
    }
  }

  #isSpent(work: Call, progress: Progress, blame: Blame): boolean {
    if (progress.refusals > MAX_REFUSALS || this.#isLate(work)) return true;
    return blame === 'wait' && passedMs(work) > this.#timing.syncWaitMs;
  }

  #isLate(work: Call): boolean {
    return passedMs(work) >= this.#timingOf(work).deadlineMs;
  }

  /**
   * Places the work. If no other provider is left, the error of the last one says more than a 404.
   */
  async #send(
    work: Call,
    sink: Sink,
    progress: Progress,
  ): Promise<Tried | { readonly error: ApiError }> {
    const queuedAt = performance.now();
    const start = (choice: Choice): Tried | null => {
      const now = performance.now();
      const queueMs = progress.queueMs + now - queuedAt;
      progress.overheadMs ??= now - work.receivedAt - queueMs;
      const spent = { queueMs, overheadMs: progress.overheadMs };
      return this.#open(choice, { work, sink, attempt: progress.attempts + 1, spent });
    };
    try {
      const placed = this.#placement.place({ work, excluded: progress.excluded, start });
      const tried = placed instanceof Promise ? await placed : placed;
      progress.attempts += 1;
      return tried;
    } catch (error) {
      if (error instanceof ApiError && ABSENCES.has(error.code)) return { error };
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
      choice,
      job: null,
      timing: this.#timingOf(call.work),
      open: (request, handler) => this.#links.open(choice, request, handler),
      // An answer that has begun proves that the provider works: other calls need not wait for its
      // end.
      onAnswer: () => {
        if (choice.health !== 'probe') return;
        this.#links.report(choice, { kind: 'ok', measured: null });
      },
      ...call,
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

function unserved({ alias }: Call, error: ApiError): ApiError {
  return alias === undefined ? error : aliasUnserved(alias, error);
}

function passedMs({ receivedAt }: Call): number {
  return performance.now() - receivedAt;
}

function noteFailure(progress: Progress, blame: Blame, { providerId }: Choice): void {
  if (blame === 'final') return;
  if (blame === 'failed') progress.replacements += 1;
  else progress.refusals += 1;
  if (blame !== 'wait') progress.excluded.add(providerId);
}

/** An internal error is an outcome, too: a stream whose headers were sent must still end. */
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
    absence: null,
    providerId: null,
    model: null,
    shareId: null,
    firstByteAt: null,
  };
}

function conclude(
  work: Call,
  progress: Progress,
  end: { kind: Outcome['kind']; error?: ApiError; metered?: Outcome['metered'] },
): Outcome {
  const { attempts, queueMs, providerId, model, shareId, firstByteAt } = progress;
  return {
    kind: end.kind,
    error: end.error ?? null,
    totalMs: Math.round(performance.now() - work.receivedAt),
    metered: end.metered ?? NO_TOKENS,
    providerId,
    model: model ?? work.alias?.name ?? work.model,
    shareId,
    attempts,
    queueMs: Math.round(queueMs),
    firstByteMs: firstByteAt === null ? null : Math.round(firstByteAt - work.receivedAt),
  };
}
