/** Ctrl-C and SIGTERM: the first drains and says so, the second stops. */
import { EXIT } from './command-error.js';
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
