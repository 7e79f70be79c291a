/** Agents and daemons of launchd, on macOS. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { LogQuery, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { Tools } from './run-tool.js';
import { showLogFile } from './show-log-file.js';
import { escapeXml } from './daemon.js';

export class LaunchdDaemon implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;
  readonly #tools: Tools;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.#tools = new Tools(setting.program.name, setting.stopSeconds);
    this.file = join(setting.folder, `${setting.name}.plist`);
  }

  async install(): Promise<void> {
    await mkdir(this.#setting.folder, { recursive: true });
    await writeFile(this.file, launchdPlist(this.#setting), { mode: 0o644 });
    // launchd keeps the old text of a loaded service.
    await this.#unload();
    await this.start();
  }

  async uninstall(): Promise<void> {
    await this.#unload();
    await rm(this.file, { force: true });
  }

  /** Loading also starts it. */
  async start(): Promise<void> {
    const isLoaded = (await this.#print()) !== null;
    if (isLoaded) await this.#tools.mustRun('launchctl', ['kickstart', this.#target]);
    else await this.#tools.mustRun('launchctl', ['bootstrap', this.#domain, this.file]);
  }

  /** A stopped service that is still loaded would be restarted. */
  async stop(): Promise<void> {
    await this.#unload();
  }

  async state(): Promise<DaemonState> {
    const told = await this.#print();
    const detail = /^\s*state = (.*)$/m.exec(told ?? '')?.[1] ?? 'not loaded';
    return { running: detail === 'running', detail };
  }

  /** launchd has no timers beside services. */
  async timerState(): Promise<null> {
    return null;
  }

  showLogs(query: LogQuery): Promise<void> {
    return showLogFile(this.#setting.logFile, query);
  }

  get #domain(): string {
    return this.#setting.scope === 'system' ? 'system' : `gui/${userInfo().uid}`;
  }

  get #target(): string {
    return `${this.#domain}/${this.#setting.name}`;
  }

  async #unload(): Promise<void> {
    if ((await this.#print()) !== null)
      await this.#tools.mustRun('launchctl', ['bootout', this.#target]);
  }

  /** Null while it is not loaded. */
  async #print(): Promise<string | null> {
    const { code, stdout } = await this.#tools.run('launchctl', ['print', this.#target]);
    return code === 0 ? stdout : null;
  }
}

// The text of a property list for launchd. `man launchd.plist` explains each key.

/** launchd keeps no log, so the program writes one; Node's last output goes to a file beside it. */
export function launchdPlist(setting: DaemonSetting): string {
  const { program, name, command, environment, runAs, logFile, stopSeconds } = setting;
  const entries = [
    ['Label', text(name)],
    ['ProgramArguments', list([...command, '--log-file', logFile].map(text))],
    ['EnvironmentVariables', dictionary(Object.entries(environment).map(textEntry))],
    ...(runAs === null ? [] : [['UserName', text(runAs)] as const]),
    ['RunAtLoad', '<true/>'],
    ['KeepAlive', program.restart === 'always' ? '<true/>' : AFTER_FAILURE],
    ['ThrottleInterval', integer(5)],
    ['ExitTimeOut', integer(stopSeconds)],
    ['ProcessType', text(program.nice > 0 ? 'Background' : 'Standard')],
    ...(program.openFiles === null ? [] : [openFilesEntry(program.openFiles)]),
    ['Umask', integer(0o077)],
    ['StandardErrorPath', text(`${logFile}.crash`)],
  ] as const;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ' +
      '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    dictionary(entries),
    '</plist>',
    '',
  ].join('\n');
}

const AFTER_FAILURE = dictionary([['SuccessfulExit', '<false/>']]);

function openFilesEntry(count: number): readonly [string, string] {
  return ['SoftResourceLimits', dictionary([['NumberOfFiles', integer(count)]])];
}

function dictionary(entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([key, value]) => `<key>${escapeXml(key)}</key>${value}`);
  return `<dict>\n${lines.join('\n')}\n</dict>`;
}

function list(items: readonly string[]): string {
  return `<array>${items.join('')}</array>`;
}

function text(value: string): string {
  return `<string>${escapeXml(value)}</string>`;
}

function integer(value: number): string {
  return `<integer>${value}</integer>`;
}

function textEntry([key, value]: [string, string]): readonly [string, string] {
  return [key, text(value)];
}
