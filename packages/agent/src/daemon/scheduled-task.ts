/** Scheduled tasks, on Windows. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { LogWish, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { mustRun, runTool } from './run-tool.js';
import { showLogFile } from './show-log-file.js';
import { taskXml } from './task-xml.js';

export class ScheduledTask implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.file = join(setting.folder, `${setting.name}.task.xml`);
  }

  async install(): Promise<void> {
    await mkdir(this.#setting.folder, { recursive: true });
    const user = `${hostname()}\\${userInfo().username}`;
    // schtasks reads UTF-16 with its mark, and nothing else surely.
    await writeFile(this.file, `\ufeff${taskXml(this.#setting, user)}`, 'utf16le');
    await mustRun('schtasks', ['/Create', '/TN', this.#name, '/XML', this.file, '/F']);
    await this.start();
  }

  async uninstall(): Promise<void> {
    // One that does not run cannot be ended.
    await runTool('schtasks', ['/End', '/TN', this.#name]);
    await mustRun('schtasks', ['/Delete', '/TN', this.#name, '/F']);
    await rm(this.file, { force: true });
  }

  async start(): Promise<void> {
    await mustRun('schtasks', ['/Run', '/TN', this.#name]);
  }

  async stop(): Promise<void> {
    await mustRun('schtasks', ['/End', '/TN', this.#name]);
  }

  async state(): Promise<DaemonState> {
    // schtasks would answer in the language of Windows.
    const question = `(Get-ScheduledTask -TaskName '${this.#name}').State`;
    const told = await mustRun('powershell', ['-NoProfile', '-Command', question]);
    const detail = told.trim();
    return { running: detail === 'Running', detail };
  }

  showLogs(wish: LogWish): Promise<void> {
    return showLogFile(this.#setting.logFile, wish);
  }

  get #name(): string {
    return this.#setting.name;
  }
}
