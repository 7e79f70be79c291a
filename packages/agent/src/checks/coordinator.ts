/** Checks the coordinator: whether it answers, accepts link and token, and what time it has. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import fetch from 'node-fetch';
import { lookup } from 'node:dns/promises';
import { dial } from '../link/dial.js';
import type { LinkEnd, OpenDial } from '../link/dial.js';
import { networkFault } from '../network-fault.js';
import type { RunningAgent } from './patient.js';
import { orTimeout } from './patient.js';

const TIMEOUT_MS = 10_000;

const MAX_ANSWER_BYTES = 64 * 1024;

export interface Reached {
  readonly check: Check;
  /** How far the coordinator's clock is ahead of this one; null if it does not report the time. */
  readonly clockLeadMs: number | null;
}

export async function checkReachable(url: string, timeoutMs = TIMEOUT_MS): Promise<Reached> {
  const { pass, fail } = checking('coordinator');
  const advice = `Another address is set with: gateway-agent login --force --url <coordinator>`;
  const askedAt = SYSTEM_CLOCK.now();
  try {
    const answer = await fetch(`${url}/healthz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      size: MAX_ANSWER_BYTES,
    });
    const text = await answer.text();
    const clockLeadMs = leadOf(answer.headers.get('date'), (askedAt + SYSTEM_CLOCK.now()) / 2);
    if (answer.ok && text.includes('"ok"')) return { check: pass(`${url} answers`), clockLeadMs };
    const elsewhere = answer.headers.get('location');
    const found = elsewhere === null ? `HTTP ${answer.status}` : `it redirects to ${elsewhere}`;
    return { check: fail(`no coordinator answers at ${url}: ${found}`, advice), clockLeadMs: null };
  } catch (error) {
    const found = `${url} cannot be reached: ${networkFault(error)}`;
    return { check: fail(found, advice), clockLeadMs: null };
  }
}

/** The header has whole seconds: on average half a second is lost. */
function leadOf(date: string | null, nowMs: number): number | null {
  const told = Date.parse(date ?? '');
  return Number.isNaN(told) ? null : told + 500 - nowMs;
}

const CLOCK_WARN_MS = 30_000;

const CLOCK_FAIL_MS = 5 * 60_000;

export function checkClock(leadMs: number | null): Check {
  const { pass, warn, fail, skip } = checking('clock');
  if (leadMs === null) return skip('the coordinator does not tell its time');
  const seconds = Math.round(Math.abs(leadMs) / 1_000);
  const way = leadMs > 0 ? 'behind' : 'ahead of';
  if (Math.abs(leadMs) <= CLOCK_WARN_MS) return pass('agrees with the coordinator');
  const found = `${seconds} s ${way} the coordinator`;
  return Math.abs(leadMs) > CLOCK_FAIL_MS ? fail(found, SET_CLOCK) : warn(found, SET_CLOCK);
}

const SET_CLOCK = `Set it with: ${
  { darwin: 'sudo sntp -sS time.apple.com', win32: 'w32tm /resync' }[process.platform as string] ??
  'sudo timedatectl set-ntp true'
}`;

export interface LinkChecks {
  readonly upgrade: Check;
  readonly auth: Check;
}

/** A running agent knows the state; a second link would only cost time. */
export function linkOfRunning({ connection, reason, pid }: RunningAgent): LinkChecks {
  const [upgrade, auth] = [checking('websocket upgrade'), checking('authorisation')];
  if (connection === 'online') {
    const found = `the running agent is online (process ${pid})`;
    return { upgrade: upgrade.pass(found), auth: auth.pass(found) };
  }
  const found = `the running agent is ${connection}: ${reason ?? 'it has just begun'}`;
  const skipped = auth.skip('the running agent has no link');
  return {
    upgrade: upgrade.fail(found, 'See what it says with: gateway-agent logs'),
    auth: skipped,
  };
}

/**
 * Dials as the agent does, and closes without a HELLO: the coordinator registers nothing, and an
 * agent that uses this token elsewhere keeps its link.
 */
export async function tryLink(url: string, token: string): Promise<LinkChecks> {
  const end = await dial(url, token);
  if (end.kind === 'open') await leave(end);
  return judge(end);
}

/** Terminates if the other end does not answer the close within the library's time limit. */
function leave({ socket }: OpenDial): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.close(CLOSE.normal, 'a check');
  });
}

function judge(end: OpenDial | LinkEnd): LinkChecks {
  const [upgrade, auth] = [checking('websocket upgrade'), checking('authorisation')];
  const skipped = auth.skip('the link could not be tried');
  if (end.kind === 'open') {
    return { upgrade: upgrade.pass('HTTP 101'), auth: auth.pass('the token is accepted') };
  }
  if (end.kind !== 'refused') {
    return { upgrade: upgrade.fail(`it broke off: ${end.reason}`, ASK_ADMIN), auth: skipped };
  }
  const reached = upgrade.pass(`the coordinator answered it (HTTP ${end.status})`);
  if (end.status === 401) return { upgrade: reached, auth: auth.fail(REFUSED, JOIN_AGAIN) };
  if (end.status === 403) return { upgrade: reached, auth: auth.fail(DISABLED, ASK_ENABLE) };
  if (end.status === 426) return { upgrade: upgrade.fail(OTHER_VERSION, UPDATE), auth: skipped };
  if (end.status === 429 || end.status === 503) {
    return {
      upgrade: upgrade.warn(`it takes no link now (HTTP ${end.status})`, LATER),
      auth: skipped,
    };
  }
  const found = `HTTP ${end.status} in place of 101: something in between takes no WebSockets`;
  return { upgrade: upgrade.fail(found, ASK_ADMIN), auth: skipped };
}

const ASK_ADMIN =
  'The admin of the coordinator lets its proxy pass WebSockets, and sees it with: ' +
  'gateway-coordinator doctor';

const REFUSED = 'the coordinator does not know this token: it was revoked, or is of another one';

const JOIN_AGAIN = 'Join again with: gateway-agent login --force --url <coordinator>';

const DISABLED = 'the owner of this provider is disabled';

const ASK_ENABLE =
  'The admin of the coordinator enables them with: gateway-coordinator user enable';

const OTHER_VERSION = 'this agent and the coordinator have no version of the link in common';

const UPDATE = 'Update the older one; see which with: gateway-agent version --check';

const LATER = 'Try again in a minute.';

// Checks the way to the coordinator without sending a request.

/** A system's name server may take half a minute to answer. */
const LOOKUP_TIMEOUT_MS = 5_000;

type LookUp = (name: string) => Promise<readonly { readonly address: string }[]>;

export async function checkDns(
  url: string,
  lookUp: LookUp = (name) => orTimeout(LOOKUP_TIMEOUT_MS, lookup(name, { all: true })),
): Promise<Check> {
  const { pass, fail } = checking('dns');
  const { hostname } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await lookUp(name);
    return pass(`${name} is ${found.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const { why, ask } = (code !== undefined && LOOKUP_FAULTS[code]) || {
      why: code ?? message,
      ask: 'Look whether this machine is online and the name is right, with',
    };
    return fail(`${name} is not found: ${why}`, `${ask}: nslookup ${name}`);
  }
}

interface LookupFault {
  readonly why: string;
  readonly ask: string;
}

/** By Node's error code. A name server that exceeds our limit has none. */
const LOOKUP_FAULTS: Readonly<Record<string, LookupFault>> = {
  ENOTFOUND: {
    why: 'no DNS server knows the name (ENOTFOUND)',
    ask: 'Look whether the name is right, and whether it is known elsewhere, with',
  },
  EAI_AGAIN: {
    why: 'no DNS server answers (EAI_AGAIN)',
    ask: 'Look whether this machine is online and its DNS server is there, with',
  },
};

/**
 * Node and the ws library ignore proxies, unless Node is configured otherwise. `set` are the names
 * of the variables: their values may be passwords.
 */
export function checkProxy(set: readonly string[], url: string): Check {
  const { pass, warn } = checking('proxy');
  if (set.length === 0) return pass('none is set');
  const { host } = new URL(url);
  const advice = `The agent connects directly: let ${host} through the firewall of your network.`;
  return warn(`${set.join(', ')} is set, and not used for the link`, advice);
}
