/** One call whose answer is not streamed: a picture, a sound, a text. */
import { asFault } from '../../api/fault.js';
import { session } from '../../api/session.js';
import { call } from './call.js';
import type { ApiRequest } from './call.js';
import { shownOf } from './run-facts.js';
import type { Shown } from './run-facts.js';
import { factsOf } from './run-facts.js';
import type { RunFacts } from './run-facts.js';

export interface RunState {
  /** Null if no run is in progress. */
  readonly running: AbortController | null;
  /** The error of the last run. */
  readonly fault: Shown | null;
}

export const IDLE: RunState = { running: null, fault: null };

interface Timed<T> {
  readonly result: T;
  readonly facts: RunFacts;
}

/**
 * Runs the request and reports its state to `write`. Resolves to null if it failed, in which case
 * the error is in the state, or if it was stopped.
 */
export async function timedRun<T>(
  request: ApiRequest,
  decode: (response: Response) => Promise<T>,
  write: (state: RunState) => void,
): Promise<Timed<T> | null> {
  const running = new AbortController();
  // The next member who uses this tab must not get the answer.
  const unwatch = session.watch(() => {
    if (session.value === null) running.abort();
  });
  write({ running, fault: null });
  const sentAt = performance.now();
  try {
    const response = await call(request, running.signal);
    const result = await decode(response);
    running.signal.throwIfAborted();
    const endedAt = performance.now();
    const marks = { sentAt, firstAt: null, lastAt: null };
    write(IDLE);
    return { result, facts: factsOf(response.headers, { marks, endedAt, tokens: null }) };
  } catch (thrown) {
    write({ running: null, fault: running.signal.aborted ? null : shownOf(asFault(thrown)) });
    return null;
  } finally {
    unwatch();
  }
}
