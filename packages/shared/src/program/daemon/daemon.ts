/** The agent as a service of the operating system, which starts and restarts it. */

/** The content of the service file. */
export interface DaemonSetting {
  /** Name of the unit, agent or task: letters, digits and hyphens. */
  readonly name: string;
  /** A service of one user, which needs no privileges; or of the machine. */
  readonly scope: DaemonScope;
  /** Where the operating system looks for the service file. */
  readonly folder: string;
  /** The program with its arguments, all paths absolute. */
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** The user that runs a service of the machine; null: the user of a user's service. */
  readonly runAs: string | null;
  /** All paths that it may write. */
  readonly writable: readonly string[];
  /** Groups that may use the graphics cards. */
  readonly groups: readonly string[];
  /** Its log file, if the operating system keeps no log. */
  readonly logFile: string;
}

export type DaemonScope = 'user' | 'system';

export interface DaemonState {
  readonly running: boolean;
  /** The operating system's own description. */
  readonly detail: string;
}

export interface LogQuery {
  readonly lines: number;
  /** Continues until interrupted. */
  readonly follow: boolean;
}

/** Each method throws a `CommandError` with the operating system's reason if it fails. */
export interface Daemon {
  /** The service file. */
  readonly file: string;
  /** Writes the file, replacing an earlier one, and starts the service. */
  install(): Promise<void>;
  /** Stops the service and removes the file. */
  uninstall(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** State of an installed service. */
  state(): Promise<DaemonState>;
  /** Writes its log to stdout. */
  showLogs(query: LogQuery): Promise<void>;
}

/** Escapes text for XML, between tags or in quotes. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
