/** A program as a service of the operating system, which starts and restarts it. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ExitCode } from '../command-error.js';

/** What one of the programs needs as a service, whatever its configuration. */
export interface DaemonProgram {
  /** Of its command line, and of its usual service. */
  readonly name: string;
  /** For people: `Inference Gateway agent`. */
  readonly title: string;
  readonly restart: 'always' | 'on-failure';
  /** Faults that a restart cannot mend. Only systemd can tell them from others. */
  readonly lastingExitCodes: readonly ExitCode[];
  /** Its priority, as for `nice`; 0: that of other services. */
  readonly nice: number;
  /** How many files it may have open; null: the operating system's own limit. */
  readonly openFiles: number | null;
  /** What a service of the machine is allowed although others need not be. */
  readonly allowed: {
    /** To use devices: graphics cards. */
    readonly devices: boolean;
    /** To see the processes of other users. */
    readonly processes: boolean;
    /** To read below the home folders, whatever its own paths are. */
    readonly homes: boolean;
  };
}

/** The content of the service file. */
export interface DaemonSetting {
  readonly program: DaemonProgram;
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
  /** After this it is killed: more than it needs to finish running work. */
  readonly stopSeconds: number;
  /** A command beside it; null: none. Only systemd can have one. */
  readonly timer: DaemonTimer | null;
}

/** A command that runs once a day, whether or not the service itself runs. */
export interface DaemonTimer {
  /** Its units are `<service>-<suffix>`. */
  readonly suffix: string;
  readonly title: string;
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** All paths that it may write. */
  readonly writable: readonly string[];
  /** Hours and minutes of the machine's clock: `03:30`. */
  readonly at: string;
}

export type DaemonScope = 'user' | 'system';

export interface DaemonState {
  readonly running: boolean;
  /** The operating system's own description. */
  readonly detail: string;
}

export interface TimerState {
  readonly file: string;
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
  /** Writes the files, replacing earlier ones, and starts the service. */
  install(): Promise<void>;
  /** Stops the service and removes the files, also those of a timer with this suffix. */
  uninstall(timerSuffix?: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** State of an installed service. */
  state(): Promise<DaemonState>;
  /** Null if no timer with this suffix is installed. */
  timerState(suffix: string): Promise<TimerState | null>;
  /** Writes its log to stdout. */
  showLogs(query: LogQuery): Promise<void>;
}

/** Each path has a service of its own, so its name has a part that only this path has. */
export function daemonName({ name }: DaemonProgram, path: string): string {
  return `${name}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`;
}

/**
 * Where each operating system looks for services of one user and of the machine. `configHome` is
 * `XDG_CONFIG_HOME`; on Windows, which has no such place, the file is kept in `stateDir`.
 */
export function daemonFolder(
  scope: DaemonScope,
  { stateDir, configHome }: { readonly stateDir: string; readonly configHome: string | undefined },
): string {
  if (process.platform === 'win32') return stateDir;
  if (process.platform === 'darwin') {
    return scope === 'system'
      ? '/Library/LaunchDaemons'
      : join(homedir(), 'Library', 'LaunchAgents');
  }
  if (scope === 'system') return '/etc/systemd/system';
  return join(configHome || join(homedir(), '.config'), 'systemd', 'user');
}

/** Escapes text for XML, between tags or in quotes. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
