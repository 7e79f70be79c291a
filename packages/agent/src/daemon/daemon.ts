/** The agent as a service of the operating system, which starts it and brings it back. */

/** What is written down for the operating system. */
export interface DaemonSetting {
  /** Of the unit, agent or task: letters, digits and hyphens. */
  readonly name: string;
  /** Of one user, who needs no privileges for it; or of the machine. */
  readonly scope: DaemonScope;
  /** Where the operating system looks for it. */
  readonly folder: string;
  /** The program with its arguments, all paths absolute. */
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** As whom a service of the machine runs; null: as its one user. */
  readonly runAs: string | null;
  /** All that it may write. */
  readonly writable: readonly string[];
  /** Groups that may use the graphics cards. */
  readonly groups: readonly string[];
  /** Where it logs, where the operating system keeps no log of its own. */
  readonly logFile: string;
}

export type DaemonScope = 'user' | 'system';

export interface DaemonState {
  readonly running: boolean;
  /** In the operating system's own words. */
  readonly detail: string;
}

export interface LogQuery {
  readonly lines: number;
  /** Goes on until it is interrupted. */
  readonly follow: boolean;
}

/** Each method throws a `CommandError` with the operating system's reason where it fails. */
export interface Daemon {
  /** The file that makes it a service. */
  readonly file: string;
  /** Writes the file, in place of an earlier one, and starts the service. */
  install(): Promise<void>;
  /** Stops the service and removes the file. */
  uninstall(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Of one that is installed. */
  state(): Promise<DaemonState>;
  /** Writes its log to stdout. */
  showLogs(query: LogQuery): Promise<void>;
}

/** Text as XML holds it, between tags or in quotes. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
