/** `gateway-agent service …` and `logs`: the agent as a service of the operating system. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { chooseDaemon } from '@inference-gateway/shared/program/daemon/choose-daemon';
import { daemonFolder, daemonName } from '@inference-gateway/shared/program/daemon/daemon';
import type {
  DaemonProgram,
  DaemonScope,
  DaemonSetting,
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
import { ownerName } from '@inference-gateway/shared/program/owner';
import { print, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import {
  loadConfig,
  locateConfig,
  usualConfigFile,
  daemonEnvironment,
  configHome,
} from '../config/config.js';
import type { AgentConfig } from '../config/config.js';
import type { ConfigLocation } from '../config/file.js';
import { stableCommand } from '../installation/installation.js';
import { askAgent, controlSocket } from '../state/control.js';
import { configOption, countTo, example, jsonOption } from './options.js';
import type { ConfigOption } from './options.js';

interface DaemonOptions extends ConfigOption, ScopeOptions {}

export function addDaemon(program: Command): void {
  const service = program
    .command('service')
    .description('the agent as a service of the system, which starts and restarts by itself')
    .addHelpText('after', example('service install'));
  const installing = service
    .command('install')
    .description('register the service with the operating system and start it');
  addServiceFlags(installing, AGENT_SERVICES)
    .addHelpText('after', example('service install --user'))
    .action(install);
  addServiceVerbs(service, AGENT_SERVICES);
}

/** `gateway-agent logs`: the log of the agent that runs as a service. */
export function addLogs(program: Command): void {
  addServiceLogs(program, AGENT_SERVICES);
}

async function install(options: DaemonOptions): Promise<void> {
  const location = locateConfig(options.config);
  requireReady(await loadConfig(location));
  await refuseWhileRunning(AGENT_SERVICES, options);
  const scope = scopeOf(options);
  const setting = await settingOf(location, scope);
  const { file: path, stateDir: folder } = location;
  requireSocketBeside(scope, { socket: controlSocket(folder), folder, path });
  requirePrivileges(scope);
  if (scope === 'system') requireUser(setting);
  const service = chooseDaemon(setting, process.platform);
  refuseForeign(service, AGENT_SERVICE);
  await service.install();
  print(service.file);
  say('Installed and started. See "gateway-agent status", and "gateway-agent logs" for its log.');
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

function requireUser({ runAs }: DaemonSetting): void {
  if (runAs !== null && runAs !== 'root') return;
  throw new CommandError(
    EXIT.usage,
    'the configuration belongs to root, and what serves strangers must not run as root: give ' +
      'its folder to another user with "chown -R USER FOLDER", or install it as one with --user.',
  );
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

const MAX_LINES = 100_000;

export const AGENT_SERVICES: ServiceKind<DaemonOptions> = {
  program: AGENT_SERVICE,
  article: 'an agent',
  belongsTo: 'configuration',
  path: ({ config }) => locateConfig(config).file,
  ifMissing: 'install one with "gateway-agent service install".',
  example: '--user',
  flags: () => [configOption()],
  jsonOption,
  parseLines: countTo(MAX_LINES),
  daemonIn: async (scope, { config }) =>
    chooseDaemon(await settingOf(locateConfig(config), scope), process.platform),
  isRunning: async ({ config }) =>
    (await askAgent(locateConfig(config).stateDir, 'status')) !== null,
  stays: null,
  timerSuffix: null,
};

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
