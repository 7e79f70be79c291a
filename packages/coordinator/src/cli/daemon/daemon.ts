/** `gateway-coordinator service …` and `logs`: a service of the operating system. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { chooseDaemon } from '@inference-gateway/shared/program/daemon/choose-daemon';
import type {
  Daemon,
  DaemonScope,
  DaemonTimer,
} from '@inference-gateway/shared/program/daemon/daemon';
import {
  addServiceFlags,
  addServiceLogs,
  addServiceVerbs,
  refuseForeign,
  refuseWhileRunning,
  requirePrivileges,
  requireSocketBeside,
  scopeOf,
} from '@inference-gateway/shared/program/daemon/daemon-commands';
import type {
  ScopeOptions,
  ServiceKind,
} from '@inference-gateway/shared/program/daemon/daemon-commands';
import { inShell } from '@inference-gateway/shared/program/disk';
import { actAsOwnerOf, isOwnerOf } from '@inference-gateway/shared/program/owner';
import { print, say } from '@inference-gateway/shared/program/print';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { loadServiceConfig, locateData } from '../../config/config.js';
import type { ConfigFlags } from '../../config/config.js';
import { adminSocketPath } from '../../operations/admin-socket.js';
import { hasStore } from '../../store/open.js';
import { DEFAULT_KEEP } from '../backup.js';
import { callRunning } from '../client.js';
import { dataOption, example, jsonOption, parseCount } from '../options.js';
import {
  BACKUP_SUFFIX,
  COORDINATOR_SERVICE,
  backupTimer,
  daemonOf,
  ownCommand,
  settingOf,
} from './daemon-setting.js';
import type { BackupPlan } from './daemon-setting.js';
import { requireReadable, takeBackupFolder, takeDataFolder } from './daemon-user.js';

interface InstallOptions extends ConfigFlags, ScopeOptions {
  readonly runAs?: string;
  readonly backupFolder?: string;
  readonly backupAt?: string;
  readonly backupKeep?: number;
}

interface FindOptions extends Pick<ConfigFlags, 'data' | 'config'>, ScopeOptions {}

const DEFAULT_AT = '03:30';

export function addService(program: Command): void {
  const service = program
    .command('service')
    .description('the coordinator as a service of the system, which starts and restarts by itself')
    .addHelpText('after', example('service install'));
  addInstall(service);
  addServiceVerbs(service, COORDINATOR_SERVICES);
}

/** The settings are those of `start`. */
function addInstall(service: Command): void {
  const install = service
    .command('install')
    .description('register the service with the operating system and start it');
  addServiceFlags<FindOptions>(install, COORDINATOR_SERVICES);
  install
    .option('--run-as <user>', 'with --system: whom a new data folder is made for')
    .option('--host <host>', 'address to listen on (GATEWAY_HOST; default 127.0.0.1)')
    .option('--port <port>', 'port to listen on (GATEWAY_PORT; default 7070)')
    .option('--public-url <url>', 'origin that callers and agents use (GATEWAY_PUBLIC_URL)')
    .option('--metrics-port <port>', 'another port for /metrics alone (GATEWAY_METRICS_PORT)')
    .option('--backup-folder <dir>', 'back up to this folder every day, by a timer of systemd')
    .addOption(
      new Option(
        '--backup-at <time>',
        `when, on the machine's clock (default ${DEFAULT_AT})`,
      ).argParser(parseTime),
    )
    .addOption(
      new Option(
        '--backup-keep <count>',
        `how many archives stay (default ${DEFAULT_KEEP})`,
      ).argParser(parseCount),
    )
    .addHelpText(
      'after',
      example('service install --data /var/lib/gateway --public-url https://gateway.example.org'),
    )
    .action(installService);
}

async function installService(options: InstallOptions): Promise<void> {
  const plan = planOf(options);
  const service = loadServiceConfig(options);
  const dataDir = resolve(service.config.dataDir);
  const scope = scopeOf(options);
  refuseRunAs(scope, options);
  requirePrivileges(scope);
  requireSocketBeside(scope, { socket: adminSocketPath(dataDir), folder: dataDir, path: dataDir });
  const earlier = daemonOf(dataDir, scope);
  refuseForeign(earlier, COORDINATOR_SERVICE);
  await refuseWithoutBackups(earlier, plan);
  await refuseWhileRunning(COORDINATOR_SERVICES, options);
  const runAs = await runAsOf(dataDir, scope, options);
  const [node, ...words] = await ownCommand();
  const files = [node, ...words, ...(service.file === null ? [] : [service.file])];
  if (scope === 'system') requireReadable(dataDir, files);
  const timer = plan === null ? null : await timerOf(plan, dataDir);
  const setting = await settingOf({ flags: options, service, scope, runAs, timer });
  const daemon = chooseDaemon(setting, process.platform);
  const isNew = !hasStore(service.config);
  await daemon.install();
  print(daemon.file);
  say('Installed and started. See "gateway-coordinator service status", and "… logs".');
  if (plan !== null) say(`Backups go to ${plan.folder}, every day at ${plan.at}.`);
  if (isNew) say(`The first to open the link in ${dataDir}/setup-link becomes the admin.`);
}

/** Makes the data folder for a service of the machine. Null: this user. */
async function runAsOf(
  dataDir: string,
  scope: DaemonScope,
  { runAs }: InstallOptions,
): Promise<string | null> {
  if (scope === 'system') return takeDataFolder(dataDir, runAs);
  requireOwn(dataDir);
  return null;
}

async function timerOf(plan: BackupPlan, dataDir: string): Promise<DaemonTimer> {
  await takeBackupFolder(plan.folder, dataDir);
  return backupTimer(plan, dataDir);
}

/** Null: no timer is asked for. */
function planOf({
  backupFolder,
  backupAt,
  backupKeep,
  ...flags
}: InstallOptions): BackupPlan | null {
  if (backupFolder === undefined) {
    if (backupAt === undefined && backupKeep === undefined) return null;
    const message = '--backup-at and --backup-keep are for a timer: add --backup-folder.';
    throw new CommandError(EXIT.usage, message);
  }
  const [folder, keep] = [resolve(backupFolder), backupKeep ?? DEFAULT_KEEP];
  if (process.platform === 'linux') return { folder, keep, at: backupAt ?? DEFAULT_AT };
  const data = flags.data === undefined ? '' : ` --data ${inShell(resolve(flags.data))}`;
  throw new CommandError(
    EXIT.usage,
    '--backup-folder makes a timer of systemd, which is not here. Omit it, and let this machine ' +
      `run every day: gateway-coordinator backup --folder ${inShell(folder)} --keep ${keep}${data}`,
  );
}

function refuseRunAs(scope: DaemonScope, { runAs }: InstallOptions): void {
  if (scope === 'system' || runAs === undefined) return;
  const message = '--run-as is for a service of the machine: another one runs as its user.';
  throw new CommandError(EXIT.usage, message);
}

function requireOwn(dataDir: string): void {
  if (isOwnerOf(dataDir)) return;
  const message = `${dataDir} belongs to another user: run this as that one, or give --system.`;
  throw new CommandError(EXIT.notAuthorised, message);
}

/** An update must not end the backups without a word. */
async function refuseWithoutBackups(daemon: Daemon, plan: BackupPlan | null): Promise<void> {
  const timer = plan === null ? await daemon.timerState(BACKUP_SUFFIX) : null;
  if (timer === null) return;
  throw new CommandError(
    EXIT.usage,
    `this service has a timer for backups, ${timer.file}: repeat --backup-folder to keep it, or ` +
      'end it with "gateway-coordinator service uninstall" first.',
  );
}

/** Throws commander's usage error. */
function parseTime(written: string): string {
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(written)) return written;
  throw new InvalidArgumentError('Write a time of day, like 03:30.');
}

/** `gateway-coordinator logs`: the log of the coordinator that runs as a service. */
export function addLogs(program: Command): void {
  addServiceLogs(program, COORDINATOR_SERVICES);
}

const COORDINATOR_SERVICES: ServiceKind<FindOptions> = {
  program: COORDINATOR_SERVICE,
  article: 'a coordinator',
  belongsTo: 'data folder',
  path: dataDirOf,
  ifMissing:
    'name its folder with --data, or install one with "gateway-coordinator service install".',
  example: '--data /var/lib/gateway',
  flags: () => [
    dataOption(),
    new Option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)'),
  ],
  jsonOption,
  parseLines: parseCount,
  daemonIn: (scope, flags) => daemonOf(dataDirOf(flags), scope),
  isRunning: (flags) => isRunning(dataDirOf(flags)),
  stays: 'the data',
  timerSuffix: BACKUP_SUFFIX,
};

function dataDirOf(flags: FindOptions): string {
  return resolve(locateData(flags));
}

async function isRunning(dataDir: string): Promise<boolean> {
  const becomeRoot = actAsOwnerOf(dataDir);
  try {
    return existsSync(dataDir) && (await callRunning(dataDir, 'server.status', {})) !== null;
  } finally {
    becomeRoot();
  }
}
