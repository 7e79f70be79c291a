/** Maps a data folder, and the flags of `service install`, to the service that runs it. */
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { chooseDaemon } from '@inference-gateway/shared/program/daemon/choose-daemon';
import { daemonFolder, daemonName } from '@inference-gateway/shared/program/daemon/daemon';
import type {
  Daemon,
  DaemonProgram,
  DaemonScope,
  DaemonSetting,
  DaemonTimer,
} from '@inference-gateway/shared/program/daemon/daemon';
import { configHome } from '../../config/config.js';
import type { ConfigFlags, ServiceConfig } from '../../config/config.js';
import { OWN_COMMAND } from '../../own-files.js';

export const COORDINATOR_SERVICE: DaemonProgram = {
  name: 'gateway-coordinator',
  title: 'Inference Gateway coordinator',
  restart: 'on-failure',
  // Wrong settings, a missing file, another user's folder, a taken lock or port, a newer schema.
  lastingExitCodes: [
    EXIT.usage,
    EXIT.notFound,
    EXIT.notAuthorised,
    EXIT.conflict,
    EXIT.schemaNewer,
  ],
  nice: 0,
  // A connection of a caller or an agent is a file, and a call may hold files of its own.
  openFiles: 65_536,
  allowed: { devices: false, processes: false, homes: false },
};

/** The data folder in the documents: its service has the plain name. */
const USUAL_DATA = '/var/lib/gateway';

/** Beside the drain: for the last answers, and for the database. */
const AFTER_DRAIN_SECONDS = 15;
/** The longest drain that can be set: for commands that do not know the service's own. */
const MAX_STOP_SECONDS = 86_400 + AFTER_DRAIN_SECONDS;

export const BACKUP_SUFFIX = 'backup';

/** A link to the version that is in use, which its administrator moves. */
const CURRENT = /[\\/]current[\\/]/;

/**
 * How its service starts it: not by a link, which an update may remove, unless that is one for the
 * purpose (docs/operations/upgrade.md).
 */
export async function ownCommand(): Promise<readonly [string, ...string[]]> {
  const [node, ...words] = OWN_COMMAND;
  const [, called = ''] = process.argv;
  if (CURRENT.test(called)) return [node, called];
  return [node, ...(await Promise.all(words.map((word) => realpath(word))))];
}

interface Installation {
  readonly flags: ConfigFlags;
  readonly service: ServiceConfig;
  readonly scope: DaemonScope;
  /** The owner of the data folder; null: the user of a user's service. */
  readonly runAs: string | null;
  readonly timer: DaemonTimer | null;
}

export async function settingOf(installation: Installation): Promise<DaemonSetting> {
  const { flags, service, scope, runAs, timer } = installation;
  const dataDir = resolve(service.config.dataDir);
  return {
    ...located(dataDir, scope),
    command: [...(await ownCommand()), 'start', '--data', dataDir, ...wordsOf(flags, service.file)],
    environment: service.environment,
    runAs,
    stopSeconds: Math.ceil(service.config.drainMs / 1_000) + AFTER_DRAIN_SECONDS,
    timer,
  };
}

/** What is needed to find a service and to ask for it. */
function located(dataDir: string, scope: DaemonScope): DaemonSetting {
  const isUsual = scope === 'system' && dataDir === USUAL_DATA;
  return {
    program: COORDINATOR_SERVICE,
    name: isUsual ? COORDINATOR_SERVICE.name : daemonName(COORDINATOR_SERVICE, dataDir),
    scope,
    folder: daemonFolder(scope, { stateDir: dataDir, configHome: configHome() }),
    command: OWN_COMMAND,
    environment: {},
    runAs: null,
    writable: [dataDir],
    groups: [],
    logFile: join(dataDir, 'coordinator.log'),
    stopSeconds: MAX_STOP_SECONDS,
    timer: null,
  };
}

function wordsOf(
  { host, port, publicUrl, metricsPort }: ConfigFlags,
  file: string | null,
): string[] {
  const given: readonly (readonly [string, string | null | undefined])[] = [
    ['--config', file],
    ['--host', host],
    ['--port', port],
    ['--public-url', publicUrl],
    ['--metrics-port', metricsPort],
  ];
  return given.flatMap(([flag, value]) => (typeof value === 'string' ? [flag, value] : []));
}

/** The service of this data folder, installed or not. */
export function daemonOf(dataDir: string, scope: DaemonScope): Daemon {
  return chooseDaemon(located(dataDir, scope), process.platform);
}

export interface BackupPlan {
  readonly folder: string;
  readonly at: string;
  readonly keep: number;
}

/** `/var/tmp` is on a disk, while `/tmp` may be memory: a verified database is unpacked there. */
export async function backupTimer(plan: BackupPlan, dataDir: string): Promise<DaemonTimer> {
  const { folder, keep, at } = plan;
  const words = ['backup', '--folder', folder, '--keep', String(keep), '--data', dataDir];
  return {
    suffix: BACKUP_SUFFIX,
    title: 'Inference Gateway coordinator, backup',
    command: [...(await ownCommand()), ...words],
    environment: { TMPDIR: '/var/tmp' },
    writable: [...new Set([dataDir, folder])],
    at,
  };
}
