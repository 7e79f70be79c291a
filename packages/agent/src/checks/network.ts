/** The way to the coordinator, as far as nothing is said to it. */
import { lookup } from 'node:dns/promises';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { orTimeout } from './or-timeout.js';

/** A system's name server may be silent for half a minute. */
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

/** By the code of Node. A name server that is silent for longer than our limit has none. */
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
