/** Whether a local server is fit to serve, going by its answer to a probe. */
import { LocalFailure } from './backend.js';
import type { ProbeAnswer } from './probe.js';

/**
 * Throws a `LocalFailure` that tells the owner what to do. `trusted` lets any other status pass.
 */
export function checkAnswer(
  { status }: ProbeAnswer,
  url: string,
  { trusted = false }: { trusted?: boolean } = {},
): void {
  if (status === 401 || status === 403) {
    throw new LocalFailure(
      'LOCAL_ERROR',
      `${url} answered ${status}. Set its key with api_key_file.`,
    );
  }
  if (status === 503) {
    throw new LocalFailure('LOCAL_UNREACHABLE', `${url} answered 503: it is still loading.`);
  }
  if (status >= 500 || (status >= 300 && !trusted)) {
    throw new LocalFailure('LOCAL_ERROR', `${url} answered ${status}. Check the base URL.`);
  }
}
