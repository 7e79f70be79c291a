/** The way to the coordinator, as far as nothing is said to it. */
import { lookup } from 'node:dns/promises';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { orTimeout } from './or-timeout.js';

/** A system's name server may be silent for half a minute. */
const LOOKUP_TIMEOUT_MS = 5_000;

export async function checkDns(url: string): Promise<Check> {
  const { pass, fail } = checking('dns');
  const { hostname } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await orTimeout(LOOKUP_TIMEOUT_MS, lookup(name, { all: true }));
    return pass(`${name} is ${found.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return fail(`${name} is not found (${reason})`, `${ASK_ABOUT_NAME}: nslookup ${name}`);
  }
}

const ASK_ABOUT_NAME = 'Look whether this machine is online and the name is right, with';

/**
 * Node and the ws library leave proxies out of account, unless Node is told otherwise. `set` are
 * the names of the variables: what they hold may be a password.
 */
export function checkProxy(set: readonly string[], url: string): Check {
  const { pass, warn } = checking('proxy');
  if (set.length === 0) return pass('none is set');
  const { host } = new URL(url);
  const advice = `The agent connects directly: let ${host} through the firewall of your network.`;
  return warn(`${set.join(', ')} is set, and not used for the link`, advice);
}
