/** Where an agent's files lie: all of them beside its configuration file. */
import { resolve } from 'node:path';

export interface ConfigLocation {
  readonly file: string;
  /** The agent's own secret for the coordinator (0600). */
  readonly tokenFile: string;
  /** Control socket and lock (0700). */
  readonly stateDir: string;
  /** Whether its user named the file: a named file must exist. */
  readonly named: boolean;
}

export function configLocation(path: string, named: boolean): ConfigLocation {
  const file = resolve(path);
  return { file, tokenFile: `${file}.token`, stateDir: `${file}.state`, named };
}
