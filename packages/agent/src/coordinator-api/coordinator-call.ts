/** One HTTPS request to the coordinator, beside the link or before there is one. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import fetch from 'node-fetch';
import type { Response } from 'node-fetch';
import * as z from 'zod';
import { networkFault } from '../network-fault.js';

const TIMEOUT_MS = 15_000;
/** A provider with hundreds of shares gets them all in one answer. */
const MAX_ANSWER_BYTES = 1024 * 1024;

const refusal = z.object({
  error: z.object({ message: z.string(), code: z.string().optional() }),
});

export interface CoordinatorCall {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  readonly path: string;
  /** Default: `POST`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  /** Sent as the bearer token; absent if none is needed. */
  readonly token?: string;
  /** Aborts the request, with its reason. */
  readonly stop?: AbortSignal;
  /** For the whole answer; default: 15 s. */
  readonly timeoutMs?: number;
}

export interface CoordinatorAnswer {
  readonly status: number;
  /** The JSON body; null if it is not JSON. */
  readonly body: unknown;
  /** The redirect's target, which is not followed. */
  readonly location: string | null;
  readonly retryAfterS: number | null;
}

/** Throws a `CommandError` if no answer comes. */
export async function callCoordinator(call: CoordinatorCall): Promise<CoordinatorAnswer> {
  try {
    const response = await send(call);
    const { status, headers } = response;
    const body = parseJson(await response.text());
    const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN);
    return {
      status,
      body,
      location: headers.get('location'),
      retryAfterS: Number.isFinite(retryAfterS) ? retryAfterS : null,
    };
  } catch (cause) {
    call.stop?.throwIfAborted();
    throw unreachable(call, cause);
  }
}

/** The coordinator's error code in an unexpected answer. */
export function codeOf({ body }: CoordinatorAnswer): string | null {
  return refusal.safeParse(body).data?.error.code ?? null;
}

export interface Asked {
  readonly url: string;
  /** What was requested: `enrolment`. */
  readonly what: string;
  /** The message for a conflict without a reason from the coordinator. */
  readonly conflict?: string;
}

/** Distinguishes a refusal, a taken name, a busy coordinator, and an answer of another server. */
export function refused(answer: CoordinatorAnswer, asked: Asked): CommandError {
  const { status, location } = answer;
  const { url, what, conflict } = asked;
  const message = messageOf(answer);
  const code = NOT_FOUND.has(codeOf(answer) ?? '') ? EXIT.notFound : REFUSALS[status];
  if (code !== undefined) {
    const reason = message ?? (status === 409 ? conflict : undefined) ?? 'no reason given';
    return new CommandError(code, `${url} refuses the ${what} (${status}): ${reason}`);
  }
  if (isBusy(answer)) return busy(asked, `HTTP ${status}: ${message ?? 'no reason'}`);
  const elsewhere = status >= 300 && status < 400 ? location : null;
  const found = elsewhere === null ? `HTTP ${status}` : `it redirects to ${elsewhere}`;
  return noCoordinator(asked, found);
}

export function messageOf({ body }: CoordinatorAnswer): string | null {
  return refusal.safeParse(body).data?.error.message ?? null;
}

/** A retry may succeed later. */
export function isBusy({ status }: CoordinatorAnswer): boolean {
  return status === 429 || status >= 500;
}

export function noCoordinator({ url, what }: Asked, found: string): CommandError {
  return new CommandError(
    EXIT.coordinatorUnreachable,
    `no coordinator takes ${what}s at ${url}: ${found}. ` +
      'Give the address that it is reached at, without /v1.',
  );
}

function send(call: CoordinatorCall): Promise<Response> {
  const { url, path, method = 'POST', body, token, stop, timeoutMs = TIMEOUT_MS } = call;
  const timeout = AbortSignal.timeout(timeoutMs);
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // A redirect would carry the secret to another host.
    redirect: 'manual',
    signal: stop === undefined ? timeout : AbortSignal.any([timeout, stop]),
    size: MAX_ANSWER_BYTES,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const REFUSALS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.notAuthorised,
  403: EXIT.notAuthorised,
  409: EXIT.conflict,
};

/** Codes for missing objects, if the coordinator itself answers. */
const NOT_FOUND: ReadonlySet<string> = new Set(['network_not_found', 'share_not_found']);

function busy({ url, what }: Asked, reason: string): CommandError {
  const message = `the coordinator at ${url} takes no ${what} now (${reason}). Try again later.`;
  return new CommandError(EXIT.coordinatorUnreachable, message);
}

function unreachable(
  { url, timeoutMs = TIMEOUT_MS }: CoordinatorCall,
  cause: unknown,
): CommandError {
  const { name } = cause as Error;
  const reason =
    name === 'AbortError' || name === 'TimeoutError'
      ? `no answer within ${timeoutMs / 1000} s`
      : networkFault(cause);
  return new CommandError(
    EXIT.coordinatorUnreachable,
    `the coordinator at ${url} cannot be reached: ${reason}. Check the address and its network.`,
    { cause },
  );
}
