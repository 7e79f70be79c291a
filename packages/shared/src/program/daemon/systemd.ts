/** Services of systemd, of one user or of the machine. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from '../print.js';
import type { LogQuery, Daemon, DaemonSetting, DaemonState } from './daemon.js';
import { mustRun, runTool, showTool } from './run-tool.js';

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

  showLogs({ lines, follow }: LogQuery): Promise<void> {
    const query = ['--lines', String(lines), '--no-pager', '--output', 'cat'];
    const following = follow ? ['--follow'] : [];
    return showTool('journalctl', [...this.#scope, '--unit', this.#unit, ...query, ...following]);
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

/** Otherwise a user's services start at their first login and stop at their last logout. */
async function stayWithoutLogin(): Promise<void> {
  const lingering = await runTool('loginctl', ['enable-linger']).catch(() => null);
  if (lingering?.code === 0) return;
  say('It runs only while you are logged in. To change that: sudo loginctl enable-linger "$USER"');
}

// The text of a unit for systemd. `man systemd.exec` explains each line.

/**
 * Faults that a restart cannot mend: wrong or missing configuration, not enrolled, a second copy.
 */
const LASTING_EXIT_CODES = '2 3 4 7';

/**
 * Hardened as far as the agent's work allows. V8 generates code at run time, so memory may be
 * written and executed; graphics cards are devices, so devices are not private; and game mode
 * inspects other programs, so processes are not hidden.
 */
export function systemdUnit(setting: DaemonSetting): string {
  const { scope, command } = setting;
  const lines = [
    '[Unit]',
    'Description=Inference Gateway agent',
    ...(scope === 'system' ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    // No limit: a coordinator may be unreachable for a week.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map(word).join(' ')}`,
    ...Object.entries(setting.environment).map(environment),
    'Restart=always',
    'RestartSec=5',
    `RestartPreventExitStatus=${LASTING_EXIT_CODES}`,
    // The agent finishes running work within 30 s.
    'TimeoutStopSec=45',
    'KillMode=mixed',
    'Nice=5',
    'UMask=0077',
    ...EVERYWHERE,
    ...(scope === 'system' ? systemOnly(setting) : []),
    '',
    '[Install]',
    `WantedBy=${scope === 'system' ? 'multi-user.target' : 'default.target'}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** These work without a mount namespace, which many systems deny to user services. */
const EVERYWHERE = [
  'NoNewPrivileges=true',
  'LockPersonality=true',
  'RestrictRealtime=true',
  'RestrictSUIDSGID=true',
  'RestrictNamespaces=true',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'SystemCallArchitectures=native',
];

/**
 * Never `ProtectClock`: before systemd 253 it allows the clock's device and thereby denies all
 * others, including graphics cards. Without capabilities the clock cannot be set anyway.
 */
function systemOnly({ runAs, writable, groups }: DaemonSetting): string[] {
  return [
    `User=${runAs ?? ''}`,
    ...(groups.length === 0 ? [] : [`SupplementaryGroups=${groups.join(' ')}`]),
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    'ProtectHome=read-only',
    ...writable.map((folder) => `ReadWritePaths=${quoted(folder)}`),
    'PrivateTmp=true',
    'ProtectKernelTunables=true',
    'ProtectKernelModules=true',
    'ProtectKernelLogs=true',
    'ProtectControlGroups=true',
    'ProtectHostname=true',
  ];
}

function environment([name, value]: [string, string]): string {
  return `Environment=${quoted(`${name}=${value}`)}`;
}

/** In commands `$` starts a variable. */
function word(text: string): string {
  return quoted(text.replaceAll('$', '$$$$'));
}

/** `%` starts a specifier. */
function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%');
  return `"${escaped}"`;
}
