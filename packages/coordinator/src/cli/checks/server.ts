/** The running coordinator, and the address under which the world finds it. */
import { isLoopback } from '@inference-gateway/shared/loopback';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { z } from 'zod';
import type { ServerFacts } from '../../operations/operation.js';

const READY_TIMEOUT_MS = 5_000;
const SEE_LOG = 'See its log; as a service it keeps it in: journalctl -u gateway-coordinator';
const BEHIND_TLS =
  'Put a proxy with TLS in front (docs/operations.md), and name it: ' +
  'GATEWAY_PUBLIC_URL=https://<name> gateway-coordinator start';

/** No coordinator is no fault: many commands are there to be run without one. */
export async function checkServer(server: ServerFacts | null): Promise<Check> {
  const { pass, fail, skip } = checking('coordinator');
  if (server === null) return skip('not running');
  const url = `${server.address}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    if (answer.ok) return pass(`ready on ${server.address}`);
    return fail(`${url} answers ${answer.status}: ${messageOf(await answer.text())}`, SEE_LOG);
  } catch (error) {
    return fail(`${url}: ${(error as Error).message}`, SEE_LOG);
  }
}

/** What it says of itself; a text that is none of its answers, as it is. */
function messageOf(answer: string): string {
  const failure = z.object({ error: z.object({ message: z.string() }) });
  try {
    return failure.parse(JSON.parse(answer)).error.message;
  } catch {
    return answer;
  }
}

export function checkPublicUrl(publicUrl: string | null): Check {
  const { pass, warn, fail } = checking('public url');
  if (publicUrl === null) {
    return warn('not set', 'Set GATEWAY_PUBLIC_URL before others use it.');
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return pass(publicUrl);
  return fail(`${publicUrl} is not encrypted: agents refuse it, and keys would leak`, BEHIND_TLS);
}
