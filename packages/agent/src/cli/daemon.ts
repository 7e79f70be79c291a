/** `gateway-agent service …`: the agent as a service of the operating system. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print, printJson, printRecord, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import {
  loadConfig,
  locateConfig,
  usualConfigFile,
  daemonEnvironment,
  configHome,
} from '../config/config.js';
import type { AgentConfig } from '../config/config.js';
import type { ConfigLocation } from '../config/file.js';
import { chooseDaemon } from '@inference-gateway/shared/program/daemon/choose-daemon';
import { daemonFolder, daemonName } from '@inference-gateway/shared/program/daemon/daemon';
import type {
  Daemon,
  DaemonProgram,
  DaemonScope,
  DaemonSetting,
} from '@inference-gateway/shared/program/daemon/daemon';
import { isRoot, ownerName } from '@inference-gateway/shared/program/owner';
import { stableCommand } from '../installation/installation.js';
import { askAgent, controlSocket } from '../state/control.js';
import { configOption, example, jsonOption, countTo } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';

interface DaemonOptions extends ConfigOption, ScopeOptions {}

export function addDaemon(program: Command): void {
  const service = program
    .command('service')
    .description('the agent as a service of the system, which starts and restarts by itself')
    .addHelpText('after', example('service install'));
  addCommand(
    service,
    'install',
    'register the service with the operating system and start it',
    install,
  );
  addCommand(service, 'uninstall', 'stop the service and remove it', uninstall);
  addCommand(service, 'start', 'start the service', start);
  addCommand(service, 'stop', 'let the service finish running work, and stop it', stop);
  addCommand(
    service,
    'status',
    'show whether the service runs; exits 9 if it does not',
    status,
  ).addOption(jsonOption());
}

type Action = (options: DaemonOptions & JsonOption) => Promise<void>;

function addCommand(
  service: Command,
  name: string,
  ...[description, action]: [string, Action]
): Command {
  return service
    .command(name)
    .description(description)
    .addOption(
      new Option('--user', 'a service of this user, which needs no privileges').conflicts('system'),
    )
    .addOption(
      new Option(
        '--system',
        'a service of the machine, installed by root; runs as the owner of the configuration',
      ),
    )
    .addOption(configOption())
    .addHelpText('after', example(`service ${name} --user`))
    .action(action);
}

async function install({ config, system, user }: DaemonOptions): Promise<void> {
  const location = locateConfig(config);
  requireReady(await loadConfig(location));
  await refuseWhileRunning(location);
  const scope = system === true || (user !== true && isRoot()) ? 'system' : 'user';
  const setting = await settingOf(location, scope);
  if (scope === 'system') {
    requireSocketBeside(location);
    requirePrivileges(setting);
  }
  const service = chooseDaemon(setting, process.platform);
  await service.install();
  print(service.file);
  say('Installed and started. See "gateway-agent status", and "gateway-agent logs" for its log.');
}

async function uninstall({ config, ...scope }: DaemonOptions): Promise<void> {
  const service = await installedDaemon(config, scope);
  await service.uninstall();
  say(`Stopped, and ${service.file} is removed.`);
}

async function start({ config, ...scope }: DaemonOptions): Promise<void> {
  await (await installedDaemon(config, scope)).start();
  say('Started.');
}

async function stop({ config, ...scope }: DaemonOptions): Promise<void> {
  await (await installedDaemon(config, scope)).stop();
  say('Stopped until "gateway-agent service start", or the next start of this machine.');
}

async function status({ config, json, ...scope }: DaemonOptions & JsonOption): Promise<void> {
  const service = await installedDaemon(config, scope);
  const { running, detail } = await service.state();
  (json === true ? printJson : printRecord)({ file: service.file, running, detail });
  if (!running) {
    throw new CommandError(EXIT.checkFailed, 'it does not run: see "gateway-agent logs" for why.');
  }
}

function requireReady({ url, token, services, location }: AgentConfig): void {
  if (url === null || token === null) {
    const message =
      `${location.file} is not enrolled, so its service could not start: ` +
      'run "gateway-agent login --url <coordinator>" first.';
    throw new CommandError(EXIT.notAuthorised, message);
  }
  if (!existsSync(location.tokenFile)) {
    const message =
      `${location.tokenFile} is missing, and a service is never given GATEWAY_AGENT_TOKEN: ` +
      'run "gateway-agent login --url <coordinator>" first.';
    throw new CommandError(EXIT.notAuthorised, message);
  }
  if (services.length > 0) return;
  throw new CommandError(
    EXIT.usage,
    `${location.file} has no services: run "gateway-agent services scan --add" first.`,
  );
}

/** Only a running service may be replaced by its new version. */
async function refuseWhileRunning(location: ConfigLocation): Promise<void> {
  if ((await askAgent(location.stateDir, 'status')) === null) return;
  const isService = await installedDaemon(location.file, {}).catch(() => null);
  if (isService !== null && (await isService.state()).running) return;
  throw new CommandError(
    EXIT.conflict,
    `an agent runs on ${location.file} already: stop it first (Ctrl-C where it was started).`,
  );
}

function requirePrivileges({ runAs, folder }: DaemonSetting): void {
  if (process.platform === 'win32') {
    throw new CommandError(EXIT.usage, 'on Windows a service is of one user: give --user.');
  }
  if (!isRoot()) {
    const message = `only root writes to ${folder}: run it with sudo, or give --user.`;
    throw new CommandError(EXIT.notAuthorised, message);
  }
  if (runAs !== null && runAs !== 'root') return;
  throw new CommandError(
    EXIT.usage,
    'the configuration belongs to root, and what serves strangers must not run as root: give ' +
      'its folder to another user with "chown -R USER FOLDER", or install it as one with --user.',
  );
}

/** A service of the machine may write only beside its configuration, and has its own /tmp. */
function requireSocketBeside({ file, stateDir }: ConfigLocation): void {
  const isBeside = dirname(controlSocket(stateDir)) === stateDir;
  if (isBeside || process.platform !== 'linux') return;
  const message =
    `the path of ${file} is too long for a service of the machine, as its control socket would ` +
    'lie elsewhere: move the configuration to a shorter one, or give --user.';
  throw new CommandError(EXIT.usage, message);
}

// Maps a configuration to the service that runs it.

export const AGENT_SERVICE: DaemonProgram = {
  name: 'gateway-agent',
  title: 'Inference Gateway agent',
  restart: 'always',
  // Wrong or missing configuration, not enrolled, a second copy.
  lastingExitCodes: [EXIT.usage, EXIT.notFound, EXIT.notAuthorised, EXIT.conflict],
  nice: 5,
  openFiles: null,
  // Game mode looks at the cards and at the programs of all users; models and keys lie in homes.
  allowed: { devices: true, processes: true, homes: true },
};

/** It finishes running work within 30 s. */
export const STOP_SECONDS = 45;

/** Members of these groups may use the cards. */
export const CARD_GROUPS = ['video', 'render'];

interface ScopeOptions {
  readonly user?: boolean;
  readonly system?: boolean;
}

/** The installed service of this configuration; throws with exit code 3 if there is none. */
export async function installedDaemon(
  config: string | undefined,
  options: ScopeOptions,
): Promise<Daemon> {
  const location = locateConfig(config);
  const scopes: readonly DaemonScope[] =
    options.user === true ? ['user'] : options.system === true ? ['system'] : ['user', 'system'];
  for (const scope of scopes) {
    const service = chooseDaemon(await settingOf(location, scope), process.platform);
    if (existsSync(service.file)) return service;
  }
  throw new CommandError(
    EXIT.notFound,
    `no service is installed for ${location.file}: ` +
      'install one with "gateway-agent service install".',
  );
}

async function settingOf(location: ConfigLocation, scope: DaemonScope): Promise<DaemonSetting> {
  const { file, stateDir } = location;
  return {
    program: AGENT_SERVICE,
    name: nameOf(file, scope),
    scope,
    folder: daemonFolder(scope, { stateDir, configHome: configHome() }),
    command: [...stableCommand(), 'start', '--config', file],
    environment: daemonEnvironment(),
    runAs: scope === 'system' ? ownerName(file) : null,
    writable: [dirname(file)],
    groups: await cardGroups(),
    logFile: join(stateDir, 'agent.log'),
    stopSeconds: STOP_SECONDS,
    timer: null,
  };
}

/**
 * A user's default configuration has the plain name; any other one has its own. Each service of the
 * machine has its own name: the default differs between root and the user who looks for it.
 */
function nameOf(configFile: string, scope: DaemonScope): string {
  const isUsual = scope === 'user' && configFile === usualConfigFile();
  return isUsual ? AGENT_SERVICE.name : daemonName(AGENT_SERVICE, configFile);
}

/** A unit that names a missing group would not start. */
async function cardGroups(): Promise<string[]> {
  const groups = await readFile('/etc/group', 'utf8').catch(() => '');
  const names = new Set(groups.split('\n').map((line) => line.split(':')[0]));
  return CARD_GROUPS.filter((name) => names.has(name));
}

interface LogOptions extends ConfigOption {
  readonly lines: number;
  readonly follow?: boolean;
}

const DEFAULT_LINES = 50;

const MAX_LINES = 100_000;

/** `gateway-agent logs`: the log of the agent that runs as a service. */
export function addLogs(program: Command): void {
  program
    .command('logs')
    .description(
      'show the log of the service; an agent started in a terminal logs to that terminal',
    )
    .addOption(
      new Option('-n, --lines <count>', 'how many of the last lines')
        .argParser(countTo(MAX_LINES))
        .default(DEFAULT_LINES),
    )
    .option('-f, --follow', 'keep printing new lines, until Ctrl-C')
    .addOption(configOption())
    .addHelpText('after', example('logs --lines 20 --follow'))
    .action(showLogs);
}

async function showLogs({ config, lines, follow }: LogOptions): Promise<void> {
  const service = await installedDaemon(config, {});
  await service.showLogs({ lines, follow: follow === true });
}
