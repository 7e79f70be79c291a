/** Agents and daemons of launchd, on macOS. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { launchdPlist } from './launchd-plist.js';
import type { LogWish, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { mustRun, runTool } from './run-tool.js';
import { showLogFile } from './show-log-file.js';

export class LaunchdDaemon implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.file = join(setting.folder, `${setting.name}.plist`);
  }

  async install(): Promise<void> {
    await mkdir(this.#setting.folder, { recursive: true });
    await writeFile(this.file, launchdPlist(this.#setting), { mode: 0o644 });
    // One that is loaded already keeps its old text.
    await this.#unload();
    await this.start();
  }

  async uninstall(): Promise<void> {
    await this.#unload();
    await rm(this.file, { force: true });
  }

  /** Loading starts it. */
  async start(): Promise<void> {
    const isLoaded = (await this.#print()) !== null;
    if (isLoaded) await mustRun('launchctl', ['kickstart', this.#target]);
    else await mustRun('launchctl', ['bootstrap', this.#domain, this.file]);
  }

  /** Stopped but loaded, it would be started again. */
  async stop(): Promise<void> {
    await this.#unload();
  }

  async state(): Promise<DaemonState> {
    const told = await this.#print();
    const detail = /^\s*state = (.*)$/m.exec(told ?? '')?.[1] ?? 'not loaded';
    return { running: detail === 'running', detail };
  }

  showLogs(wish: LogWish): Promise<void> {
    return showLogFile(this.#setting.logFile, wish);
  }

  get #domain(): string {
    return this.#setting.scope === 'system' ? 'system' : `gui/${userInfo().uid}`;
  }

  get #target(): string {
    return `${this.#domain}/${this.#setting.name}`;
  }

  async #unload(): Promise<void> {
    if ((await this.#print()) !== null) await mustRun('launchctl', ['bootout', this.#target]);
  }

  /** Null while it is not loaded. */
  async #print(): Promise<string | null> {
    const { code, stdout } = await runTool('launchctl', ['print', this.#target]);
    return code === 0 ? stdout : null;
  }
}
