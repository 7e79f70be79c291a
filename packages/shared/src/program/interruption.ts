import { CommandError, EXIT } from './command-error.js';

/**
 * Aborted by the first Ctrl-C or SIGTERM, with a `CommandError` that says what that means; the
 * second one kills.
 */
export function interruption(whatItMeans = 'nothing is left of it.'): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    stop.abort(new CommandError(EXIT.interrupted, `interrupted: ${whatItMeans}`));
  };
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return stop.signal;
}
