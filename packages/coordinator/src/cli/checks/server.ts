/** The running coordinator, and the address under which the world finds it. */
import type { ServerFacts } from '../../admin/admin-context.js';
import { checking } from './check.js';
import type { Check } from './check.js';

const READY_TIMEOUT_MS = 5_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** No coordinator is no fault: many commands are there to be run without one. */
export async function checkServer(server: ServerFacts | null): Promise<Check> {
  const { ok, failed } = checking('coordinator');
  if (server === null) return ok('not running');
  const url = `${server.address}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    if (answer.ok) return ok(`ready on ${server.address}`);
    return failed(`${url} answers ${answer.status}: ${await answer.text()}`, 'Look at its log.');
  } catch (error) {
    return failed(`${url}: ${(error as Error).message}`, 'Look at its log, or restart it.');
  }
}

export function checkPublicUrl(publicUrl: string | null): Check {
  const { ok, warning, failed } = checking('public url');
  if (publicUrl === null) {
    return warning('not set', 'Set GATEWAY_PUBLIC_URL before others use it.');
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return ok(publicUrl);
  return failed(publicUrl, 'Put it behind TLS: agents refuse an open link, and keys would leak.');
}
