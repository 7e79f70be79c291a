/** Trades a join token for this agent's own token: one HTTPS request to the coordinator. */
import { arch, platform } from 'node:os';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import { ENROLL_PATH } from '@inference-gateway/shared/protocol/version';
import fetch from 'node-fetch';
import type { Response } from 'node-fetch';
import * as z from 'zod';
import { AGENT_VERSION } from './agent-version.js';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const enrolment = z.object({
  provider_id: z.string().min(1),
  name: z.string().min(1).max(256),
  token: z.string().min(1),
});
const refusal = z.object({ error: z.object({ message: z.string() }) });

/** What the coordinator made of this machine: `token` is the agent's own secret. */
export type Enrolment = z.infer<typeof enrolment>;

export interface EnrolmentRequest {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Single use: a second enrolment needs another. */
  readonly joinToken: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
}

/**
 * Throws a `CommandError` that tells a refused token, a taken name and an unreachable coordinator
 * apart.
 */
export async function enroll(request: EnrolmentRequest): Promise<Enrolment> {
  refuseOtherSecrets(request.joinToken);
  const response = await send(request);
  const body = await readBody(response, request.url);
  if (response.status !== 200) throw refused(response, body, request);
  const parsed = enrolment.safeParse(body);
  if (!parsed.success) throw noCoordinator(request.url, 'its answer is no enrolment');
  return parsed.data;
}

/**
 * An API key pasted by mistake would open the gateway to whoever answers at that URL: it stays
 * here.
 */
function refuseOtherSecrets(token: string): void {
  if (!/^gw[ka]_/.test(token)) return;
  const kind = token.startsWith('gwk_') ? 'an API key (gwk_…)' : "an agent's token (gwa_…)";
  throw new CommandError(
    EXIT.notAuthorised,
    `this is ${kind}, not a join token (gwj_…): ` +
      'have one made with "gateway-coordinator token create".',
  );
}

async function send({ url, joinToken, name }: EnrolmentRequest): Promise<Response> {
  const body = { name, os: platform(), arch: arch(), agent_version: AGENT_VERSION };
  try {
    return await fetch(`${url}${ENROLL_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${joinToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // A redirect would carry the token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      size: MAX_ANSWER_BYTES,
    });
  } catch (cause) {
    throw unreachable(url, cause);
  }
}

/** The answer's JSON; null where it is something else. */
async function readBody(response: Response, url: string): Promise<unknown> {
  try {
    const text = await response.text();
    return parseJson(text);
  } catch (cause) {
    throw unreachable(url, cause);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refused(response: Response, body: unknown, { url, name }: EnrolmentRequest): CommandError {
  const message = refusal.safeParse(body).data?.error.message;
  const code = REFUSALS[response.status];
  if (code !== undefined) {
    const fallback =
      response.status === 409 ? `the name ${name ?? ''} is taken` : 'no reason given';
    return new CommandError(
      code,
      `${url} refuses the enrolment (${response.status}): ${message ?? fallback}`,
    );
  }
  const { status } = response;
  if (status === 429 || status >= 500)
    return busy(url, `HTTP ${status}: ${message ?? 'no reason'}`);
  const elsewhere = status >= 300 && status < 400 ? response.headers.get('location') : null;
  return noCoordinator(url, elsewhere === null ? `HTTP ${status}` : `it redirects to ${elsewhere}`);
}

const REFUSALS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.notAuthorised,
  403: EXIT.notAuthorised,
  409: EXIT.conflict,
};

function busy(url: string, reason: string): CommandError {
  const message = `the coordinator at ${url} cannot enrol now (${reason}). Try again in a while.`;
  return new CommandError(EXIT.coordinatorUnreachable, message);
}

function noCoordinator(url: string, found: string): CommandError {
  return new CommandError(
    EXIT.coordinatorUnreachable,
    `no coordinator takes enrolments at ${url}: ${found}. ` +
      'Give the address that it is reached at, without /v1.',
  );
}

function unreachable(url: string, cause: unknown): CommandError {
  const { name, message } = cause as Error;
  const reason =
    name === 'AbortError' || name === 'TimeoutError'
      ? `no answer within ${TIMEOUT_MS / 1000} s`
      : message;
  return new CommandError(
    EXIT.coordinatorUnreachable,
    `the coordinator at ${url} cannot be reached: ${reason}. Check the address and its network.`,
    { cause },
  );
}
