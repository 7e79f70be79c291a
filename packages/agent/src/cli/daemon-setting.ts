/** From a configuration to the service that runs it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { locateConfig, usualConfigFile } from '../config.js';
import type { ConfigLocation } from '../config-location.js';
import { daemonEnvironment, daemonFolder } from '../config-daemon.js';
import { chooseDaemon } from '../daemon/choose-daemon.js';
import type { Daemon, DaemonScope, DaemonSetting } from '../daemon/daemon.js';

const PROGRAM = fileURLToPath(new URL('../../bin/gateway-agent.js', import.meta.url));
/** Whoever is in them may use the cards. */
const CARD_GROUPS = ['video', 'render'];

export interface ScopeOptions {
  readonly user?: boolean;
  readonly system?: boolean;
}

/** The service of this configuration that is installed; throws with exit code 3 where none is. */
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

export async function settingOf(
  location: ConfigLocation,
  scope: DaemonScope,
): Promise<DaemonSetting> {
  const { file, stateDir } = location;
  return {
    name: nameOf(file, scope),
    scope,
    folder: daemonFolder(scope, stateDir),
    command: [process.execPath, await realpath(PROGRAM), 'start', '--config', file],
    environment: daemonEnvironment(),
    runAs: scope === 'system' ? await ownerOf(file) : null,
    writable: [dirname(file)],
    groups: await cardGroups(),
    logFile: join(stateDir, 'agent.log'),
  };
}

/**
 * A user's usual configuration has the plain name; each other one, its own. Of the machine's
 * services each has its own: what is usual differs between root and the user who looks for it.
 */
function nameOf(configFile: string, scope: DaemonScope): string {
  if (scope === 'user' && configFile === usualConfigFile()) return 'gateway-agent';
  return `gateway-agent-${createHash('sha256').update(configFile).digest('hex').slice(0, 8)}`;
}

/** The user to whom a file belongs, by name; null where it is not there or cannot be told. */
async function ownerOf(file: string): Promise<string | null> {
  const owner = await stat(file).catch(() => null);
  if (owner === null) return null;
  if (owner.uid === userInfo().uid) return userInfo().username;
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const line = users.split('\n').find((one) => one.split(':')[2] === String(owner.uid));
  return line?.split(':')[0] ?? String(owner.uid);
}

/** A unit that names a group which is not there would not start. */
async function cardGroups(): Promise<string[]> {
  const groups = await readFile('/etc/group', 'utf8').catch(() => '');
  const names = new Set(groups.split('\n').map((line) => line.split(':')[0]));
  return CARD_GROUPS.filter((name) => names.has(name));
}
