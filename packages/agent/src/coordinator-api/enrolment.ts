import * as z from 'zod';
import { arch, platform } from 'node:os';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import {
  ENROLL_PATH,
  DEVICE_PATH,
  DEVICE_TOKEN_PATH,
} from '@inference-gateway/shared/protocol/version';
import { setTimeout } from 'node:timers/promises';
import { AGENT_VERSION } from '../own-files.js';
import {
  noCoordinator,
  callCoordinator,
  refused,
  codeOf,
  isBusy,
  messageOf,
} from './coordinator-call.js';
import type { Asked, CoordinatorAnswer } from './coordinator-call.js';

const enrolment = z.object({
  provider_id: z.string().min(1),
  name: z.string().min(1).max(256),
  token: z.string().min(1),
  /** Absent from coordinators that approve every provider. */
  approved: z.boolean().default(true),
});

/** The new provider: `token` is the agent's own secret. */
export type Enrolment = z.infer<typeof enrolment>;

/** Throws a `CommandError` if a success has another content. */
function readEnrolment({ body }: CoordinatorAnswer, asked: Asked): Enrolment {
  const parsed = enrolment.safeParse(body);
  if (!parsed.success) throw noCoordinator(asked, 'its answer is no enrolment');
  return parsed.data;
}

// Exchanges a join token for this agent's own token: one HTTPS request to the coordinator.
interface EnrolmentRequest {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Single use: a second enrolment needs another. */
  readonly joinToken: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
}

/**
 * Throws a `CommandError` that distinguishes a refused token, a taken name and an unreachable
 * coordinator.
 */
export async function enroll({ url, joinToken, name }: EnrolmentRequest): Promise<Enrolment> {
  refuseOtherSecrets(joinToken);
  const body = { name, os: platform(), arch: arch(), agent_version: AGENT_VERSION };
  const answer = await callCoordinator({ url, path: ENROLL_PATH, body, token: joinToken });
  const asked = { url, what: 'enrolment', conflict: `the name ${name ?? ''} is taken` };
  if (answer.status !== 200) throw refused(answer, asked);
  return readEnrolment(answer, asked);
}

/**
 * An API key pasted by mistake would give the server at that URL access to the gateway: it is not
 * sent.
 */
function refuseOtherSecrets(token: string): void {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    // PowerShell's `>` writes UTF-16.
    const message =
      'a join token is one word (gwj_…), and this is something else: ' +
      'keep the token alone in the file, as plain text in UTF-8.';
    throw new CommandError(EXIT.usage, message);
  }
  if (!/^gw[ka]_/.test(token)) return;
  const kind = token.startsWith('gwk_') ? 'an API key (gwk_…)' : "an agent's token (gwa_…)";
  throw new CommandError(
    EXIT.notAuthorised,
    `this is ${kind}, not a join token (gwj_…): ` +
      'have one made with "gateway-coordinator token create".',
  );
}

// Enrols this machine with an approval: it shows a code, and polls until the code has been approved
// (RFC 8628).

/** RFC 8628, section 3.5. */
const SLOWER_BY_MS = 5_000;

/** Consecutive failures; after that the coordinator counts as unreachable. */
const MAX_FAILURES = 5;

/** Printed on a terminal: control characters are refused. */
const shown = z.string().regex(/^\P{Cc}{1,256}$/u);

const asked = z.object({
  device_code: z.string().min(1).max(512),
  user_code: shown,
  expires_in: z.number().positive().max(86_400),
  interval: z.number().positive().max(300),
  approve: shown,
  /** Coordinators of earlier versions have no page for it. */
  verification_uri_complete: shown.optional(),
});

interface LogInRequest {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
  /** The machine's name for itself, shown at the approval. */
  readonly host: string;
  /** Aborts, with its reason. */
  readonly stop: AbortSignal;
}

export interface LogIn {
  readonly url: string;
  readonly stop: AbortSignal;
  readonly deviceCode: string;
  readonly userCode: string;
  /** The command that approves it. */
  readonly approve: string;
  /** The page on which a member approves it; null if the coordinator has none. */
  readonly page: string | null;
  readonly lifetimeMs: number;
  readonly intervalMs: number;
}

/** Throws a `CommandError` that distinguishes a refusal and an unreachable coordinator. */
export async function beginLogIn({ url, name, host, stop }: LogInRequest): Promise<LogIn> {
  const answer = await callCoordinator({ url, path: DEVICE_PATH, body: { name, host }, stop });
  if (answer.status !== 200) throw refused(answer, { url, what: WHAT });
  const parsed = asked.safeParse(answer.body);
  if (!parsed.success) throw noCoordinator({ url, what: WHAT }, 'its answer holds no code');
  const { device_code: deviceCode, user_code: userCode, approve, ...rest } = parsed.data;
  const { verification_uri_complete: page, ...times } = rest;
  const lifetimeMs = times.expires_in * 1_000;
  return {
    url,
    stop,
    deviceCode,
    userCode,
    approve,
    page: page ?? null,
    lifetimeMs,
    intervalMs: times.interval * 1_000,
  };
}

const WHAT = 'log-in';

/**
 * Polls until there is a decision. Throws a `CommandError` that distinguishes a denied log-in, an
 * expired one, a taken name and an unreachable coordinator.
 */
export async function awaitApproval(logIn: LogIn): Promise<Enrolment> {
  const deadline = performance.now() + logIn.lifetimeMs;
  let { intervalMs } = logIn;
  let pauseMs = intervalMs;
  let failures = 0;
  while (performance.now() < deadline) {
    await pause(Math.min(pauseMs, deadline - performance.now()), logIn.stop);
    const answer = await poll(logIn);
    if (answer instanceof CommandError || isBusy(answer)) {
      failures += 1;
      if (failures >= MAX_FAILURES) throw asError(answer, logIn);
      pauseMs = Math.max(intervalMs, retryAfterMs(answer));
      continue;
    }
    if (answer.status === 200) return readEnrolment(answer, { url: logIn.url, what: WHAT });
    if (codeOf(answer) === 'slow_down') intervalMs += SLOWER_BY_MS;
    else if (codeOf(answer) !== 'authorization_pending') throw ended(answer, logIn);
    [pauseMs, failures] = [intervalMs, 0];
  }
  throw new CommandError(EXIT.timeout, `nobody approved ${logIn.userCode} in time. Log in again.`);
}

/**
 * A coordinator may restart meanwhile, and keeps the request: a failed connection does not end the
 * poll.
 */
async function poll({ url, deviceCode, stop }: LogIn): Promise<CoordinatorAnswer | CommandError> {
  try {
    const body = { device_code: deviceCode };
    return await callCoordinator({ url, path: DEVICE_TOKEN_PATH, body, stop });
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof CommandError) return error;
    throw error;
  }
}

function asError(answer: CoordinatorAnswer | CommandError, { url }: LogIn): CommandError {
  return answer instanceof CommandError ? answer : refused(answer, { url, what: WHAT });
}

function retryAfterMs(answer: CoordinatorAnswer | CommandError): number {
  return answer instanceof CommandError ? 0 : Math.min(60, answer.retryAfterS ?? 0) * 1_000;
}

function ended(answer: CoordinatorAnswer, { url, userCode }: LogIn): CommandError {
  const code = codeOf(answer);
  const message = messageOf(answer) ?? 'no reason given';
  if (code === 'expired_token') return new CommandError(EXIT.timeout, message);
  if (code === 'access_denied') {
    return new CommandError(EXIT.notAuthorised, `${url} refuses ${userCode}: ${message}`);
  }
  return refused(answer, { url, what: WHAT });
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  // The timer rejects with its own error; the user must see the signal's reason.
  await setTimeout(ms, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
}
