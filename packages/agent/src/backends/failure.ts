/** Which way a connection to a local server failed. */
import { LocalFailure } from './backend.js';

/** Nobody listens there, or nobody can be reached. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TIMED_OUT: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'TimeoutError',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The message travels to the coordinator, so it names no address of the home network. */
export function connectionFailure(cause: unknown): LocalFailure {
  if (cause instanceof LocalFailure) return cause;
  const name = nameOf(cause);
  if (UNREACHABLE.has(name)) {
    const message = `cannot reach the local server (${name}). Is it running?`;
    return new LocalFailure('LOCAL_UNREACHABLE', message, { cause });
  }
  if (TIMED_OUT.has(name)) {
    return new LocalFailure('LOCAL_TIMEOUT', 'the local server did not answer in time.', { cause });
  }
  const message = `the local server broke off the connection (${name}).`;
  return new LocalFailure('LOCAL_ERROR', message, { cause });
}

/** The system's code where there is one, possibly a level down, else the error's own name. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) ?? codeOf(error.cause) ?? error.name;
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
