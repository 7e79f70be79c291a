/** Scheduled tasks, on Windows. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { LogQuery, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { Tools } from './run-tool.js';
import { showLogFile } from './show-log-file.js';
import { escapeXml } from './daemon.js';

export class ScheduledTask implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;
  readonly #tools: Tools;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.#tools = new Tools(setting.program.name, setting.stopSeconds);
    this.file = join(setting.folder, `${setting.name}.task.xml`);
  }

  async install(): Promise<void> {
    await mkdir(this.#setting.folder, { recursive: true });
    const user = `${hostname()}\\${userInfo().username}`;
    // UTF-16 with a byte order mark is the only encoding that schtasks reads reliably.
    await writeFile(this.file, `\ufeff${taskXml(this.#setting, user)}`, 'utf16le');
    await this.#tools.mustRun('schtasks', ['/Create', '/TN', this.#name, '/XML', this.file, '/F']);
    await this.start();
  }

  async uninstall(): Promise<void> {
    // A task that is not running cannot be ended.
    await this.#tools.run('schtasks', ['/End', '/TN', this.#name]);
    await this.#tools.mustRun('schtasks', ['/Delete', '/TN', this.#name, '/F']);
    await rm(this.file, { force: true });
  }

  async start(): Promise<void> {
    await this.#tools.mustRun('schtasks', ['/Run', '/TN', this.#name]);
  }

  async stop(): Promise<void> {
    await this.#tools.mustRun('schtasks', ['/End', '/TN', this.#name]);
  }

  async state(): Promise<DaemonState> {
    // schtasks would answer in the language of Windows.
    const question = `(Get-ScheduledTask -TaskName '${this.#name}').State`;
    const told = await this.#tools.mustRun('powershell', ['-NoProfile', '-Command', question]);
    const detail = told.trim();
    return { running: detail === 'Running', detail };
  }

  /** A task of Windows has no second command with a time of its own. */
  async timerState(): Promise<null> {
    return null;
  }

  showLogs(query: LogQuery): Promise<void> {
    return showLogFile(this.#setting.logFile, query);
  }

  get #name(): string {
    return this.#setting.name;
  }
}

// The text of a scheduled task for Windows.

/**
 * Starts at its user's login, without a window: `conhost --headless` gives the program a hidden
 * console. Windows restarts it a minute after its end, without a limit.
 */
export function taskXml({ program, command, logFile }: DaemonSetting, user: string): string {
  const args = ['--headless', ...command, '--log-file', logFile].map(windowsArgument).join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    `<RegistrationInfo><Description>${escapeXml(program.title)}</Description></RegistrationInfo>`,
    `<Triggers><LogonTrigger><UserId>${escapeXml(user)}</UserId></LogonTrigger></Triggers>`,
    '<Principals><Principal id="Author">',
    `<UserId>${escapeXml(user)}</UserId><LogonType>InteractiveToken</LogonType>`,
    '<RunLevel>LeastPrivilege</RunLevel>',
    '</Principal></Principals>',
    '<Settings>',
    '<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '<DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '<StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '<StartWhenAvailable>true</StartWhenAvailable>',
    '<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '<Priority>7</Priority>',
    '<RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>',
    '</Settings>',
    '<Actions Context="Author"><Exec>',
    `<Command>conhost.exe</Command><Arguments>${escapeXml(args)}</Arguments>`,
    '</Exec></Actions>',
    '</Task>',
    '',
  ].join('\r\n');
}

/** Quotes for the C runtime, which reads backslashes as escapes only before a quote. */
export function windowsArgument(text: string): string {
  if (/^[^\s"]+$/.test(text)) return text;
  return `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}
