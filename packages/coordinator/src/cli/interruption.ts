import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';

/** Aborted by the first Ctrl-C or SIGTERM, so that a command can tidy up; the second one kills. */
export function interruption(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    stop.abort(new CommandError(EXIT.interrupted, 'interrupted: nothing is left of it.'));
  };
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return stop.signal;
}
