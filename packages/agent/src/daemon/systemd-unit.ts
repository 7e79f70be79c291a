/** The text of a unit for systemd. `man systemd.exec` explains each line. */
import type { DaemonSetting } from './daemon.js';

/** What no restart mends: wrong or missing configuration, not enrolled, a second copy. */
const LASTING_EXIT_CODES = '2 3 4 7';

/**
 * Hardened as far as the agent's work allows. V8 makes code while it runs, so memory may be
 * written and executed; graphics cards are devices, so devices are not private; and game mode
 * looks at other programs, so processes are not hidden.
 */
export function systemdUnit(setting: DaemonSetting): string {
  const { scope, command } = setting;
  const lines = [
    '[Unit]',
    'Description=Inference Gateway agent',
    ...(scope === 'system' ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    // Without end: a coordinator may be away for a week.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map(word).join(' ')}`,
    ...Object.entries(setting.environment).map(environment),
    'Restart=always',
    'RestartSec=5',
    `RestartPreventExitStatus=${LASTING_EXIT_CODES}`,
    // It finishes what is under way within 30 s.
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

/** These work without a mount namespace, which many systems deny to services of users. */
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
 * others, graphics cards among them. Without capabilities nobody sets the clock, either.
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

/** In commands `$` begins a variable. */
function word(text: string): string {
  return quoted(text.replaceAll('$', '$$$$'));
}

/** `%` begins a specifier. */
function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%');
  return `"${escaped}"`;
}
