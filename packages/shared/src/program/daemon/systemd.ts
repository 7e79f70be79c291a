/** Services of systemd, of one user or of the machine. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from '../print.js';
import type { LogQuery, Daemon, DaemonSetting, DaemonState, TimerState } from './daemon.js';
import { Tools } from './run-tool.js';
import { serviceUnit, timedUnit, timerUnit } from './systemd-units.js';

export class SystemdDaemon implements Daemon {
  readonly file: string;
  readonly #setting: DaemonSetting;
  readonly #tools: Tools;

  constructor(setting: DaemonSetting) {
    this.#setting = setting;
    this.#tools = new Tools(setting.program.name, setting.stopSeconds);
    this.file = this.#path(this.#unit);
  }

  async install(): Promise<void> {
    const { folder, scope, timer } = this.#setting;
    await mkdir(folder, { recursive: true });
    await write(this.file, serviceUnit(this.#setting));
    const timed = timer === null ? null : this.#timed(timer.suffix);
    if (timer !== null && timed !== null) {
      await write(this.#path(timed.service), timedUnit(this.#setting, timer));
      await write(this.#path(timed.timer), timerUnit(this.#setting, timer));
    }
    await this.#systemctl('daemon-reload');
    await this.#systemctl('enable', this.#unit);
    await this.#systemctl('restart', this.#unit);
    if (timed !== null) {
      await this.#systemctl('enable', timed.timer);
      await this.#systemctl('restart', timed.timer);
    }
    if (scope === 'user') await stayWithoutLogin(this.#tools);
  }

  async uninstall(timerSuffix?: string): Promise<void> {
    await this.#systemctl('disable', '--now', this.#unit);
    await rm(this.file, { force: true });
    if (timerSuffix !== undefined) await this.#removeTimer(timerSuffix);
    await this.#systemctl('daemon-reload');
  }

  async start(): Promise<void> {
    await this.#systemctl('start', this.#unit);
  }

  async stop(): Promise<void> {
    await this.#systemctl('stop', this.#unit);
  }

  state(): Promise<DaemonState> {
    return this.#stateOf(this.#unit);
  }

  async timerState(suffix: string): Promise<TimerState | null> {
    const { timer } = this.#timed(suffix);
    const file = this.#path(timer);
    return existsSync(file) ? { file, detail: (await this.#stateOf(timer)).detail } : null;
  }

  showLogs({ lines, follow }: LogQuery): Promise<void> {
    const query = ['--lines', String(lines), '--no-pager', '--output', 'cat'];
    const following = follow ? ['--follow'] : [];
    const unit = ['--unit', this.#unit];
    return this.#tools.show('journalctl', [...this.#scope, ...unit, ...query, ...following]);
  }

  /** A backup that is running ends by itself: its unit is only forgotten. */
  async #removeTimer(suffix: string): Promise<void> {
    const { timer, service } = this.#timed(suffix);
    if (existsSync(this.#path(timer))) await this.#systemctl('disable', '--now', timer);
    for (const unit of [timer, service]) await rm(this.#path(unit), { force: true });
  }

  async #stateOf(unit: string): Promise<DaemonState> {
    const question = ['show', unit, '--property=ActiveState,SubState'];
    const told = await this.#tools.mustRun('systemctl', [...this.#scope, ...question]);
    const active = /^ActiveState=(.*)$/m.exec(told)?.[1] ?? 'unknown';
    const sub = /^SubState=(.*)$/m.exec(told)?.[1] ?? 'unknown';
    return { running: active === 'active', detail: `${active} (${sub})` };
  }

  get #unit(): string {
    return `${this.#setting.name}.service`;
  }

  #timed(suffix: string): { readonly service: string; readonly timer: string } {
    const name = `${this.#setting.name}-${suffix}`;
    return { service: `${name}.service`, timer: `${name}.timer` };
  }

  #path(unit: string): string {
    return join(this.#setting.folder, unit);
  }

  get #scope(): readonly string[] {
    return this.#setting.scope === 'user' ? ['--user'] : [];
  }

  async #systemctl(...args: readonly string[]): Promise<void> {
    await this.#tools.mustRun('systemctl', [...this.#scope, ...args]);
  }
}

async function write(file: string, unit: string): Promise<void> {
  await writeFile(file, unit, { mode: 0o644 });
}

/** Otherwise a user's services start at their first login and stop at their last logout. */
async function stayWithoutLogin(tools: Tools): Promise<void> {
  const lingering = await tools.run('loginctl', ['enable-linger']).catch(() => null);
  if (lingering?.code === 0) return;
  say('It runs only while you are logged in. To change that: sudo loginctl enable-linger "$USER"');
}
