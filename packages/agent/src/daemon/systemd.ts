/** Services of systemd, of one user or of the machine. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from '@inference-gateway/shared/program/print';
import type { LogWish, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { mustRun, runTool, showTool } from './run-tool.js';
import { systemdUnit } from './systemd-unit.js';

export class SystemdDaemon implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.file = join(setting.folder, this.#unit);
  }

  async install(): Promise<void> {
    await mkdir(this.#setting.folder, { recursive: true });
    await writeFile(this.file, systemdUnit(this.#setting), { mode: 0o644 });
    await this.#systemctl('daemon-reload');
    await this.#systemctl('enable', this.#unit);
    await this.#systemctl('restart', this.#unit);
    if (this.#setting.scope === 'user') await stayWithoutLogin();
  }

  async uninstall(): Promise<void> {
    await this.#systemctl('disable', '--now', this.#unit);
    await rm(this.file, { force: true });
    await this.#systemctl('daemon-reload');
  }

  async start(): Promise<void> {
    await this.#systemctl('start', this.#unit);
  }

  async stop(): Promise<void> {
    await this.#systemctl('stop', this.#unit);
  }

  async state(): Promise<DaemonState> {
    const properties = '--property=ActiveState,SubState';
    const told = await mustRun('systemctl', [...this.#scope, 'show', this.#unit, properties]);
    const active = /^ActiveState=(.*)$/m.exec(told)?.[1] ?? 'unknown';
    const sub = /^SubState=(.*)$/m.exec(told)?.[1] ?? 'unknown';
    return { running: active === 'active', detail: `${active} (${sub})` };
  }

  showLogs({ lines, follow }: LogWish): Promise<void> {
    const wish = ['--lines', String(lines), '--no-pager', '--output', 'cat'];
    const following = follow ? ['--follow'] : [];
    return showTool('journalctl', [...this.#scope, '--unit', this.#unit, ...wish, ...following]);
  }

  get #unit(): string {
    return `${this.#setting.name}.service`;
  }

  get #scope(): readonly string[] {
    return this.#setting.scope === 'user' ? ['--user'] : [];
  }

  async #systemctl(...args: readonly string[]): Promise<void> {
    await mustRun('systemctl', [...this.#scope, ...args]);
  }
}

/** Otherwise a user's services begin with their first login and end with their last. */
async function stayWithoutLogin(): Promise<void> {
  const lingering = await runTool('loginctl', ['enable-linger']).catch(() => null);
  if (lingering?.code === 0) return;
  say('It runs only while you are logged in. To change that: sudo loginctl enable-linger "$USER"');
}
