/** Graceful shutdown: the first Ctrl-C or SIGTERM drains, the second stops at once. */
import { EXIT, CommandError } from './command-error.js';
import { say } from './print.js';

/** Calls `drain` on the first SIGINT or SIGTERM; a second one ends the process at once. */
export function onShutdown(drain: () => Promise<void>, announcement: string): void {
  let draining = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (draining) process.exit(EXIT.interrupted);
    draining = true;
    say(
      `${announcement} ${signal === 'SIGINT' ? 'Press Ctrl-C again to stop now.' : ''}`.trimEnd(),
    );
    void drain().then(() => process.exit(EXIT.ok));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

/**
 * Aborted by the first Ctrl-C or SIGTERM, with a `CommandError` as the reason; the second one ends
 * the process.
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
