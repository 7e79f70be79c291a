/**
 * The one way to send work to the chosen provider: caps the tokens of a call or a job, builds its
 * OPEN, and starts its attempt.
 */
import type { Choice } from '../core/routing/match.js';
import type { Exchange, ExchangeHandler, OpenRequest } from '../core/routing/links.js';
import { capTokens } from '../core/usage/token-cap.js';
import { lostBounds, sizeOf } from '../core/usage/usage-bounds.js';
import type { RequestSize, TokenBounds } from '../core/usage/usage-bounds.js';
import { Attempt } from './attempt.js';
import type { AttemptTiming } from './attempt.js';
import type { Sink, SpentTime, Work } from './work.js';

export interface Sending {
  readonly work: Work;
  readonly choice: Choice;
  readonly sink: Sink;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** Null for a synchronous call. */
  readonly job: OpenRequest['job'];
  readonly spent: SpentTime | null;
  readonly timing: AttemptTiming;
  /** Takes the choice's slot; null if the slot or its link has gone. */
  readonly open: (request: OpenRequest, handler: ExchangeHandler) => Exchange | null;
  readonly onAccepted?: (() => void) | undefined;
  readonly onAnswer?: (() => void) | undefined;
}

export interface Sent {
  readonly attempt: Attempt;
  readonly exchange: Exchange;
}

/** Null if `open` opened nothing. */
export function send(sending: Sending): Sent | null {
  const { work, choice, job, open, sink, spent, timing, onAccepted, onAnswer } = sending;
  const { endpoint, model, receivedAt, signal } = work;
  const { body, asked, maxTokens } = capTokens(work.body, endpoint, choice.grant.maxTokens);
  const tokens = asked ?? work.asked;
  const size = job === null ? sizeLater : sizeNow;
  const attempt = new Attempt({
    sink,
    spent,
    timing,
    onAccepted,
    onAnswer,
    work: { endpoint, model, receivedAt, signal },
    provider: choice,
    attempt: sending.attempt,
    maxTokens,
    bounds: tokens === null ? null : { ...tokens, request: size(body) },
  });
  const { agentDeadlineMs: deadlineMs } = attempt;
  const exchange = open(openRequest(sending, body, deadlineMs), attempt);
  if (exchange === null) return null;
  attempt.begin(exchange);
  return { attempt, exchange };
}

type Resumed = Pick<Sending, 'sink' | 'attempt' | 'timing'> & {
  /** How long it has run over earlier links. */
  readonly ranMs: number;
  readonly work: Pick<Work, 'endpoint' | 'model' | 'receivedAt' | 'signal'>;
  readonly provider: Pick<Choice, 'providerId' | 'providerName'>;
  /** Size of the request, which only the agent still has; null if unknown. */
  readonly size: RequestSize | null;
};

/** Resumes work that was sent over an earlier link: its answer comes on another stream. */
export function resume({ size, ...resumed }: Resumed): Attempt {
  const bounds = lostBounds(resumed.work.endpoint, size);
  return new Attempt({ ...resumed, spent: null, maxTokens: null, bounds });
}

function openRequest(
  { work, choice, job, attempt }: Sending,
  body: Uint8Array,
  deadlineMs: number,
): OpenRequest {
  const { endpoint, model, caller, uploads, requestId, reasoningField } = work;
  return {
    job,
    endpoint,
    model,
    caller: { name: caller.memberName, own: choice.grant.shareId === null },
    memberId: caller.memberId,
    maxTokens: choice.grant.maxTokens,
    body,
    deadlineMs,
    uploads,
    sequences: work.slots,
    attempt,
    requestId,
    ...(reasoningField !== undefined && { reasoningField }),
  };
}

/**
 * The body of a call is kept anyway, to be sent again, so it is scanned only if needed: scanning
 * takes time.
 */
function sizeLater(body: Uint8Array): TokenBounds['request'] {
  return () => sizeOf(body);
}

/** The body of a job is not kept, because the job may run for hours. */
function sizeNow(body: Uint8Array): TokenBounds['request'] {
  const size = sizeOf(body);
  return () => size;
}
