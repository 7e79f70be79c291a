/** `gateway-coordinator service …` and `logs`: a service of the operating system. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { chooseDaemon } from '@inference-gateway/shared/program/daemon/choose-daemon';
import type {
  Daemon,
  DaemonScope,
  DaemonTimer,
} from '@inference-gateway/shared/program/daemon/daemon';
import { unitMark } from '@inference-gateway/shared/program/daemon/systemd-units';
import { inShell } from '@inference-gateway/shared/program/disk';
import { actAsOwnerOf, isOwnerOf, isRoot } from '@inference-gateway/shared/program/owner';
import { print, printJson, printRecord, say } from '@inference-gateway/shared/program/print';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { loadServiceConfig } from '../../config/config.js';
import type { ConfigFlags } from '../../config/config.js';
import { adminSocketPath } from '../../operations/admin-socket.js';
import { hasStore } from '../../store/open.js';
import { DEFAULT_KEEP } from '../backup.js';
import { callRunning } from '../client.js';
import { dataOption, example, jsonOption, parseCount } from '../options.js';
import type { JsonOption } from '../options.js';
import {
  BACKUP_SUFFIX,
  COORDINATOR_SERVICE,
  backupTimer,
  daemonOf,
  installedDaemon,
  ownCommand,
  settingOf,
} from './daemon-setting.js';
import type { BackupPlan, ScopeOptions } from './daemon-setting.js';
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
  addVerb(service, 'uninstall', 'stop the service and remove it; the data stays', uninstall);
  addVerb(service, 'start', 'start the service', start);
  addVerb(service, 'stop', 'let the service finish running work, and stop it', stop);
  addVerb(
    service,
    'status',
    'show whether the service runs; exits 9 if it does not',
    status,
  ).addOption(jsonOption());
}

/** The settings are those of `start`. */
function addInstall(service: Command): void {
  const install = service
    .command('install')
    .description('register the service with the operating system and start it');
  addScope(install)
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

type Action = (options: FindOptions & JsonOption) => Promise<void>;

function addVerb(service: Command, name: string, ...[says, action]: [string, Action]): Command {
  return addScope(service.command(name).description(says))
    .addHelpText('after', example(`service ${name} --data /var/lib/gateway`))
    .action(action);
}

function addScope(command: Command): Command {
  return command
    .addOption(
      new Option('--user', 'a service of this user, which needs no privileges').conflicts('system'),
    )
    .addOption(
      new Option(
        '--system',
        'a service of the machine, installed by root; runs as the owner of the data folder',
      ),
    )
    .addOption(dataOption())
    .option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)');
}

async function installService(options: InstallOptions): Promise<void> {
  const { user, system } = options;
  const plan = planOf(options);
  const service = loadServiceConfig(options);
  const dataDir = resolve(service.config.dataDir);
  const scope = system === true || (user !== true && isRoot()) ? 'system' : 'user';
  requirePrivileges(scope, options);
  requireSocketBeside(dataDir, scope);
  const earlier = daemonOf(dataDir, scope);
  refuseForeign(earlier);
  await refuseWithoutBackups(earlier, plan);
  await refuseWhileRunning(dataDir, options);
  const runAs = await runAsOf(dataDir, scope, options);
  const [node, ...words] = await ownCommand();
  const files = [node, ...words, ...(service.file === null ? [] : [service.file])];
  if (scope === 'system') requireReadable(dataDir, files);
  const timer = plan === null ? null : await timerOf(plan, dataDir);
  const setting = await settingOf({ flags: options, service, scope, runAs, timer });
  const daemon = chooseDaemon(setting, process.platform);
  const isNew = !hasStore(dataDir);
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

function requirePrivileges(scope: DaemonScope, { runAs }: InstallOptions): void {
  if (scope === 'user') {
    if (runAs === undefined) return;
    const message = '--run-as is for a service of the machine: another one runs as its user.';
    throw new CommandError(EXIT.usage, message);
  }
  if (process.platform === 'win32') {
    throw new CommandError(EXIT.usage, 'on Windows a service is of one user: give --user.');
  }
  if (isRoot()) return;
  const message = 'only root installs a service of the machine: run it with sudo, or give --user.';
  throw new CommandError(EXIT.notAuthorised, message);
}

/** A service of the machine may write only to its data, and has its own /tmp. */
function requireSocketBeside(dataDir: string, scope: DaemonScope): void {
  const isBeside = dirname(adminSocketPath(dataDir)) === dataDir;
  if (scope === 'user' || isBeside || process.platform !== 'linux') return;
  const message =
    `the path of ${dataDir} is too long for a service of the machine, as its control socket ` +
    'would lie elsewhere: choose a shorter one, or give --user.';
  throw new CommandError(EXIT.usage, message);
}

function requireOwn(dataDir: string): void {
  if (isOwnerOf(dataDir)) return;
  const message = `${dataDir} belongs to another user: run this as that one, or give --system.`;
  throw new CommandError(EXIT.notAuthorised, message);
}

/** Only a running service may be replaced by its new version. */
async function refuseWhileRunning(dataDir: string, options: FindOptions): Promise<void> {
  const becomeRoot = actAsOwnerOf(dataDir);
  try {
    if (!existsSync(dataDir) || (await callRunning(dataDir, 'server.status', {})) === null) return;
  } finally {
    becomeRoot();
  }
  const daemon = found(options);
  if (daemon !== null && (await daemon.state()).running) return;
  throw new CommandError(
    EXIT.conflict,
    `a coordinator runs on ${dataDir} already: stop it first (Ctrl-C where it was started, or ` +
      'its own service).',
  );
}

function found(options: FindOptions): Daemon | null {
  try {
    return installedDaemon(options, {});
  } catch {
    return null;
  }
}

/** A unit that somebody wrote by hand holds settings that are nowhere else. */
function refuseForeign({ file }: Daemon): void {
  if (process.platform !== 'linux' || !existsSync(file)) return;
  const mark = unitMark(COORDINATOR_SERVICE.name);
  if (readFileSync(file, 'utf8').startsWith(mark)) return;
  const [from, to] = [inShell(file), inShell(`${file}.before`)];
  throw new CommandError(
    EXIT.conflict,
    `${file} was not written by this command, which would replace its settings. Stop ` +
      `that service, move the file with "mv ${from} ${to}", and pass its settings as flags or ` +
      'variables.',
  );
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

async function uninstall(options: FindOptions): Promise<void> {
  const daemon = installedDaemon(options, options);
  const timer = await daemon.timerState(BACKUP_SUFFIX);
  await daemon.uninstall(BACKUP_SUFFIX);
  const files = timer === null ? `${daemon.file} is` : `${daemon.file} and ${timer.file} are`;
  say(`Stopped, and ${files} removed. The data stays.`);
}

async function start(options: FindOptions): Promise<void> {
  await installedDaemon(options, options).start();
  say('Started.');
}

async function stop(options: FindOptions): Promise<void> {
  await installedDaemon(options, options).stop();
  say('Stopped until "gateway-coordinator service start", or the next start of this machine.');
}

async function status(options: FindOptions & JsonOption): Promise<void> {
  const daemon = installedDaemon(options, options);
  const { running, detail } = await daemon.state();
  const timer = await daemon.timerState(BACKUP_SUFFIX);
  const backup = { backup_timer: timer?.file ?? null, backup_detail: timer?.detail ?? null };
  const shown = { file: daemon.file, running, detail, ...backup };
  (options.json === true ? printJson : printRecord)(shown);
  if (running) return;
  const message = 'it does not run: see "gateway-coordinator logs" for why.';
  throw new CommandError(EXIT.checkFailed, message);
}

/** Throws commander's usage error. */
function parseTime(written: string): string {
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(written)) return written;
  throw new InvalidArgumentError('Write a time of day, like 03:30.');
}

interface LogOptions extends FindOptions {
  readonly lines: number;
  readonly follow?: boolean;
}

const DEFAULT_LINES = 50;

/** `gateway-coordinator logs`: the log of the coordinator that runs as a service. */
export function addLogs(program: Command): void {
  program
    .command('logs')
    .description(
      'show the log of the service; a coordinator started in a terminal logs to that terminal',
    )
    .addOption(
      new Option('-n, --lines <count>', 'how many of the last lines')
        .argParser(parseCount)
        .default(DEFAULT_LINES),
    )
    .option('-f, --follow', 'keep printing new lines, until Ctrl-C')
    .addOption(dataOption())
    .option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)')
    .addHelpText('after', example('logs --lines 20 --follow'))
    .action(showLogs);
}

async function showLogs({ lines, follow, ...flags }: LogOptions): Promise<void> {
  await installedDaemon(flags, {}).showLogs({ lines, follow: follow === true });
}
