/**
 * `gateway-agent upgrade`: replaces this program by the version that its coordinator hands out.
 * Only the owner does that: no coordinator can push a version.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print, printJson, say } from '@inference-gateway/shared/program/print';
import { compareVersions } from '@inference-gateway/shared/compare-versions';
import type { Artifact, Release } from '@inference-gateway/shared/program/release';
import type { Daemon } from '@inference-gateway/shared/program/daemon/daemon';
import {
  askYesNo,
  terminalStreams,
  withTerminal,
} from '@inference-gateway/shared/program/terminal';
import { Option } from 'commander';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import type { AgentConfig } from '../config/config.js';
import { callCoordinator } from '../coordinator-api/coordinator-call.js';
import { fetchRelease } from '../installation/fetch-release.js';
import type { OfferedRelease } from '../installation/fetch-release.js';
import {
  findInstallation,
  linkedVersion,
  lockInstallation,
  otherWayToUpgrade,
  settleOn,
  switchTo,
} from '../installation/installation.js';
import type { Installation } from '../installation/installation.js';
import { addVersion, artifactFor } from '../installation/replace.js';
import { AGENT_VERSION } from '../own-files.js';
import { askAgent } from '../state/control.js';
import { installedDaemon } from './daemon.js';
import { configOption, enterConfig, example, jsonOption, parseDuration } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { decodeStatusReport } from './reports.js';

interface UpgradeOptions extends ConfigOption, JsonOption {
  readonly check?: boolean;
  readonly rollback?: boolean;
  readonly allowDowngrade?: boolean;
  readonly yes?: boolean;
  /** Milliseconds. */
  readonly drainTimeout: number;
}

/** How long a new version may take to be online; after that the old one comes back. */
const ONLINE_MS = 60_000;
/** A service that is seen neither running nor answering for this long does not start. */
const DEAD_MS = 10_000;
const LOOK_MS = 250;

export function addUpgrade(program: Command): void {
  program
    .command('upgrade')
    .description('replace this program by the version that its coordinator hands out')
    .option('--check', 'only compare the versions; exits 9 if there is a newer one')
    .addOption(
      new Option('--rollback', 'go back to the version before this one').conflicts('check'),
    )
    .option('--allow-downgrade', 'accept a version that is older than this one')
    .option('--yes', 'do not ask before installing a release without a signature')
    .addOption(
      new Option('--drain-timeout <duration>', 'how long running work may take to finish')
        .argParser(parseDuration)
        .default(parseDuration('2m'), '2m'),
    )
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('upgrade --check'))
    .action(upgrade);
}

async function upgrade(options: UpgradeOptions): Promise<void> {
  const config = await loadConfig(enterConfig(options.config));
  if (options.rollback === true) return rollBack(config, options);
  const url = requireUrl(config);
  const offered = await fetchRelease(url);
  const { version } = offered.release;
  const order = compareVersions(version, AGENT_VERSION);
  if (options.check === true) return report(offered, order, options);
  const installation = requireInstallation(url, offered.release);
  if (order === 0) {
    say(`${version} is the version of ${url}.`);
    return tell({ version, offered }, options);
  }
  if (order < 0) requireDowngrade(version, options);
  const artifact = artifactFor(offered.release, installation);
  await requireTrust(offered, artifact, options);
  const unlock = await lockInstallation(installation.root);
  try {
    say(`Downloading ${artifact.file} from ${url}`);
    await addVersion(installation, offered.release, { url, artifact });
    await replace(config, installation, { ...options, version });
  } finally {
    await unlock();
  }
  say(`Upgraded from ${AGENT_VERSION}.`);
  tell({ version, offered }, options);
}

interface Told {
  /** The version that is installed. */
  readonly version: string;
  /** Null if the coordinator was not asked. */
  readonly offered: OfferedRelease | null;
}

function tell({ version, offered }: Told, { json }: JsonOption): void {
  if (json !== true) return print(version);
  const release = offered?.release.version ?? null;
  printJson({ version, offered: release, signed: offered?.isSigned ?? null });
}

function requireUrl({ url, location }: AgentConfig): string {
  if (url !== null) return url;
  const message = `${location.file} names no coordinator: run "gateway-agent login" first.`;
  throw new CommandError(EXIT.notAuthorised, message);
}

function report(offered: OfferedRelease, order: number, { json }: JsonOption): void {
  const { version } = offered.release;
  if (json === true) tell({ version: AGENT_VERSION, offered }, { json });
  else print(version);
  if (order <= 0) return;
  throw new CommandError(
    EXIT.checkFailed,
    `version ${version} is there, and this is ${AGENT_VERSION}: run "gateway-agent upgrade".`,
  );
}

function requireInstallation(url: string, release: Release): Installation {
  const installation = findInstallation();
  if (installation !== null) return installation;
  const file = release.artifacts.find(({ kind }) => kind === 'package')?.file ?? '';
  const message = `this program does not replace itself: ${otherWayToUpgrade(url, file)}`;
  throw new CommandError(EXIT.usage, message);
}

function requireDowngrade(version: string, { allowDowngrade }: UpgradeOptions): void {
  if (allowDowngrade === true) return;
  throw new CommandError(
    EXIT.conflict,
    `the coordinator hands out ${version}, which is older than this version, ${AGENT_VERSION}: ` +
      'to install it all the same, give --allow-downgrade.',
  );
}

/** Nobody vouches for a release without a signature: its owner decides. */
async function requireTrust(
  { release, isSigned }: OfferedRelease,
  { file, sha256 }: Artifact,
  { yes }: UpgradeOptions,
): Promise<void> {
  if (isSigned || yes === true) return;
  const what = `Release ${release.version} has no signature. ${file} has the SHA-256 ${sha256}.`;
  const streams = terminalStreams();
  if (streams === null) {
    throw new CommandError(EXIT.usage, `${what} To install it all the same, give --yes.`);
  }
  const isWanted = await withTerminal(streams, (terminal) =>
    askYesNo(terminal, `${what} Install it?`, false),
  );
  if (!isWanted) throw new CommandError(EXIT.interrupted, 'nothing has changed.');
}

async function rollBack(config: AgentConfig, options: UpgradeOptions): Promise<void> {
  const installation = findInstallation();
  const version = installation === null ? null : await linkedVersion(installation.root, 'previous');
  if (installation === null || version === null) {
    throw new CommandError(EXIT.notFound, 'no version before this one is kept here.');
  }
  const unlock = await lockInstallation(installation.root);
  try {
    await replace(config, installation, { ...options, version });
  } finally {
    await unlock();
  }
  say(`Went back from ${AGENT_VERSION}.`);
  tell({ version, offered: null }, options);
}

// Changing the version under a running agent.

interface Replacement {
  readonly version: string;
  readonly drainTimeout: number;
}

/** Throws a `CommandError` if the new version does not come online: then the old one is back. */
async function replace(
  { location, url }: AgentConfig,
  { root, version: old }: Installation,
  { version, drainTimeout }: Replacement,
): Promise<void> {
  const { stateDir } = location;
  const isRunning = (await askAgent(stateDir, 'status')) !== null;
  // Only root restarts a service of the machine, and this is its user.
  const service = await installedDaemon(location.file, { user: true }).catch(() => null);
  if (!isRunning || service === null || !(await service.state()).running) {
    await switchTo(root, version);
    if (isRunning) say(`The agent that runs is still ${old}: restart it, or its service.`);
    return settleOn(root, old);
  }
  // A terminal that closes must not leave the service without an agent.
  process.on('SIGHUP', () => undefined);
  await drain(stateDir, drainTimeout);
  const fault = await restartAs(service, { root, version, stateDir, url });
  if (fault === null) return settleOn(root, old);
  say(`${version} is not online: ${fault}. Going back to ${old}.`);
  const again = await restartAs(service, { root, version: old, stateDir, url });
  await settleOn(root, await linkedVersion(root, 'previous'));
  const outcome = again === null ? `${old} runs again.` : `${old} is not online either: ${again}.`;
  throw new CommandError(EXIT.failure, `${version} was not online (${fault}). ${outcome}`);
}

/** Running work finishes; if it takes too long, nothing has changed. */
async function drain(stateDir: string, timeoutMs: number): Promise<void> {
  say('Draining: running work finishes, and no new work is accepted.');
  try {
    await askAgent(stateDir, 'drain', { args: { timeout_ms: timeoutMs } });
  } catch (error) {
    await askAgent(stateDir, 'undrain').catch(() => null);
    const reason = (error as Error).message;
    const message = `${reason} Nothing has changed. Try again, or give a longer --drain-timeout.`;
    throw new CommandError(EXIT.timeout, message, { cause: error });
  }
}

interface Start {
  readonly root: string;
  readonly version: string;
  readonly stateDir: string;
  readonly url: string | null;
}

/** Null once it is online; else why it is not. */
async function restartAs(service: Daemon, start: Start): Promise<string | null> {
  // A version that does not start may not be running now.
  await service.stop().catch(() => undefined);
  await switchTo(start.root, start.version);
  await service.start().catch(() => undefined);
  const begin = performance.now();
  let lastSeen = begin;
  let fault = 'it does not start';
  let runs = false;
  while (performance.now() - begin < ONLINE_MS && performance.now() - lastSeen < DEAD_MS) {
    const answer = await askAgent(start.stateDir, 'status').catch(() => null);
    const status = answer === null ? null : decodeStatusReport(answer.result);
    runs = status !== null && status.agent_version === start.version;
    if (runs && status?.connection === 'online') return null;
    if (status !== null) fault = status.reason ?? status.connection;
    if (status !== null || (await service.state()).running) lastSeen = performance.now();
    await pause(LOOK_MS);
  }
  // A coordinator that is down is no fault of the new version.
  if (!runs || (await isReachable(start.url))) return fault;
  say(`${start.version} runs, and ${start.url} cannot be reached now: it keeps trying.`);
  return null;
}

async function isReachable(url: string | null): Promise<boolean> {
  if (url === null) return false;
  const answer = await callCoordinator({ url, path: '/healthz', method: 'GET' }).catch(() => null);
  return answer?.status === 200;
}
