/** The text of units for systemd. `man systemd.exec` explains each line. */
import type { DaemonSetting, DaemonTimer } from './daemon.js';

/** The first line of each unit: a unit without it was written by somebody else. */
export function unitMark(programName: string): string {
  return `# Written by "${programName} service install", which replaces it.`;
}

/** The service itself. */
export function serviceUnit(setting: DaemonSetting): string {
  const { program, scope, command, writable } = setting;
  return unit([
    unitMark(program.name),
    '[Unit]',
    `Description=${program.title}`,
    ...(scope === 'system' ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    ...mountsOf(setting, writable),
    // No limit: what it needs may be missing for a week.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map(word).join(' ')}`,
    ...Object.entries(setting.environment).map(environment),
    `Restart=${program.restart}`,
    'RestartSec=5',
    `RestartPreventExitStatus=${program.lastingExitCodes.join(' ')}`,
    `TimeoutStopSec=${setting.stopSeconds}`,
    'KillMode=mixed',
    ...(program.nice === 0 ? [] : [`Nice=${program.nice}`]),
    ...(program.openFiles === null ? [] : [`LimitNOFILE=${program.openFiles}`]),
    // AF_NETLINK lists the addresses of this machine.
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    ...EVERYWHERE,
    ...systemOnly(setting, command, writable),
    '',
    '[Install]',
    `WantedBy=${scope === 'system' ? 'multi-user.target' : 'default.target'}`,
  ]);
}

/** The command of a timer. It needs no network, and waits for nothing but its folders. */
export function timedUnit(setting: DaemonSetting, timer: DaemonTimer): string {
  const { program, scope } = setting;
  return unit([
    unitMark(program.name),
    '[Unit]',
    `Description=${timer.title}`,
    ...mountsOf(setting, timer.writable),
    '',
    '[Service]',
    'Type=oneshot',
    `ExecStart=${timer.command.map(word).join(' ')}`,
    ...Object.entries(timer.environment).map(environment),
    'Nice=10',
    'IOSchedulingClass=idle',
    'RestrictAddressFamilies=AF_UNIX',
    ...EVERYWHERE,
    ...(scope === 'system' ? ['PrivateNetwork=true'] : []),
    ...systemOnly(setting, timer.command, timer.writable),
  ]);
}

export function timerUnit({ program }: DaemonSetting, timer: DaemonTimer): string {
  return unit([
    unitMark(program.name),
    '[Unit]',
    `Description=${timer.title}, daily`,
    '',
    '[Timer]',
    `OnCalendar=*-*-* ${timer.at}:00`,
    // A machine that was off then catches up.
    'Persistent=true',
    'RandomizedDelaySec=10min',
    '',
    '[Install]',
    'WantedBy=timers.target',
  ]);
}

/**
 * These work without a mount namespace, which many systems deny to user services.
 *
 * Beside @system-service Node needs @pkey: V8 guards its code with protection keys. Neither program
 * needs @privileged or @resources, by `strace -f -c` of a start, a chat and a stop: systemd sets
 * user, groups and priority before the program starts. Other calls fail as not permitted instead of
 * killing the process, since libraries try newer ones and do without.
 */
const EVERYWHERE = [
  'UMask=0077',
  'NoNewPrivileges=true',
  'LockPersonality=true',
  'RestrictRealtime=true',
  'RestrictSUIDSGID=true',
  'RestrictNamespaces=true',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service @pkey',
  'SystemCallFilter=~@privileged @resources',
  'SystemCallErrorNumber=EPERM',
];

/**
 * Hardened as far as the work of the program allows. Never:
 *
 * - `MemoryDenyWriteExecute`: V8 generates code at run time.
 * - `RemoveIPC`: the user may be a person, whose other programs would lose their shared memory.
 * - `PrivateUsers`: it fails where user namespaces are switched off, and denies nothing more to a
 *   process without capabilities.
 * - `ProcSubset=pid`: Node reads the machine's memory and processors below `/proc`.
 * - `DeviceAllow` for cards: drivers choose their numbers when they are loaded (`nvidia-uvm`,
 *   `nvidia-caps`, `kfd`), and systemd reads them when the service starts. A driver that is loaded
 *   later would stay denied.
 * - `ProtectClock` beside devices: before systemd 253 it allows the clock's device and thereby
 *   denies all others. Without capabilities the clock cannot be set anyway.
 */
function systemOnly(
  setting: DaemonSetting,
  command: readonly string[],
  writable: readonly string[],
): string[] {
  const { scope, program, runAs, groups } = setting;
  if (scope === 'user') return [];
  const { devices, processes } = program.allowed;
  return [
    `User=${runAs ?? ''}`,
    ...(groups.length === 0 ? [] : [`SupplementaryGroups=${groups.join(' ')}`]),
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    `ProtectHome=${needsHomes(setting, writable) ? 'read-only' : 'true'}`,
    ...writable.map((folder) => `ReadWritePaths=${quoted(folder)}`),
    ...temporaryFolders([...command, ...writable]),
    'PrivateMounts=true',
    ...(devices ? [] : ['PrivateDevices=true', 'ProtectClock=true']),
    ...(processes ? [] : ['ProtectProc=invisible']),
    'ProtectKernelTunables=true',
    'ProtectKernelModules=true',
    'ProtectKernelLogs=true',
    'ProtectControlGroups=true',
    'ProtectHostname=true',
  ];
}

/** What `ProtectHome=true` hides. */
const HOMES = /^\/(home|root|run\/user)(\/|$)/;

/** What `PrivateTmp=true` hides. */
const TEMPORARY = /^\/(var\/)?tmp(\/|$)/;

/** Its own, unless they would hide what the service needs. */
function temporaryFolders(needed: readonly string[]): readonly string[] {
  const areShared = needed.some((path) => TEMPORARY.test(path));
  return [areShared ? 'ReadWritePaths=/tmp /var/tmp' : 'PrivateTmp=true'];
}

/** Node, too, may be installed below a home. */
function needsHomes(
  { program, command, environment: set }: DaemonSetting,
  writable: readonly string[],
): boolean {
  const paths = [...command, ...writable, ...Object.values(set)];
  return program.allowed.homes || paths.some((path) => HOMES.test(path));
}

/** It does not start on the empty folder below a disk that is not mounted yet. */
function mountsOf({ scope }: DaemonSetting, folders: readonly string[]): string[] {
  return scope === 'user' ? [] : folders.map((folder) => `RequiresMountsFor=${quoted(folder)}`);
}

function unit(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
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
