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
import { installedDaemon } from '@inference-gateway/shared/program/daemon/daemon-commands';
import { interruption } from '@inference-gateway/shared/program/shutdown';
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
import { AGENT_SERVICES } from './daemon.js';
import { configOption, enterConfig, example, jsonOption, parseDuration } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { decodeRunningAgent } from './reports.js';
import type { RunningAgent } from './reports.js';

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
    return printOutcome({ version, offered }, options);
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
  printOutcome({ version, offered }, options);
}

interface Outcome {
  /** The version that is installed. */
  readonly version: string;
  /** Null if the coordinator was not asked. */
  readonly offered: OfferedRelease | null;
}

function printOutcome({ version, offered }: Outcome, { json }: JsonOption): void {
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
  if (json === true) printOutcome({ version: AGENT_VERSION, offered }, { json });
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
  printOutcome({ version, offered: null }, options);
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
  const answer = await askAgent(stateDir, 'status');
  const running = answer === null ? null : decodeRunningAgent(answer.result);
  // Only root restarts a service of the machine, and this is its user.
  const own = { config: location.file, user: true };
  const service = await installedDaemon(AGENT_SERVICES, own).catch(() => null);
  if (answer === null || service === null || !(await service.state()).running) {
    await switchTo(root, version);
    if (answer !== null) sayWhatRuns(running, version);
    return settle(root, { previous: old, running: running?.agent_version ?? null });
  }
  // From here on a Ctrl-C ends the drain alone, and a terminal that closes ends nothing.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  await drain(stateDir, drainTimeout, running?.accepts === 'none');
  say(`Drained. Starting ${version}: until one version runs, this cannot be interrupted.`);
  const fault = await restartAs(service, { root, version, stateDir, url });
  if (fault === null) return settle(root, { previous: old, running: null });
  say(`${version} is not online: ${fault}. Going back to ${old}.`);
  const again = await restartAs(service, { root, version: old, stateDir, url });
  // Unless the old version is current, it must not be removed.
  const previous = await linkedVersion(root, 'previous');
  if (again === null) await settle(root, { previous, running: null });
  const outcome = again === null ? `${old} runs again.` : `${old} is not online either: ${again}.`;
  throw new CommandError(EXIT.failure, `${version} was not online (${fault}). ${outcome}`);
}

function sayWhatRuns(running: RunningAgent | null, version: string): void {
  if (running?.agent_version === version) return;
  const what = running === null ? 'another version' : `still ${running.agent_version}`;
  say(`The agent that runs is ${what}: restart it, or its service.`);
}

/** The version has changed by now, so a failure is only a warning. */
async function settle(...[root, kept]: Parameters<typeof settleOn>): Promise<void> {
  await settleOn(root, kept).catch((error: Error) => {
    const what = 'The versions before it are not cleaned up, and "--rollback" may not find one';
    say(`warning: ${what}: ${error.message}`);
  });
}

/** Running work finishes. If it takes too long, or on Ctrl-C, the agent accepts work as before. */
async function drain(stateDir: string, timeoutMs: number, wasDraining: boolean): Promise<void> {
  say('Draining: running work finishes, and no new work is accepted.');
  const signal = interruption('nothing has changed.');
  try {
    await askAgent(stateDir, 'drain', { args: { timeout_ms: timeoutMs }, signal });
    signal.throwIfAborted();
  } catch (cause) {
    if (!wasDraining) await undrain(stateDir);
    signal.throwIfAborted();
    if (!(cause instanceof CommandError) || cause.exitCode !== EXIT.timeout) throw cause;
    const seconds = timeoutMs / 1_000;
    const message =
      `running work did not finish within ${seconds} s, see "gateway-agent jobs". ` +
      'Nothing has changed. Try again, or give a longer --drain-timeout.';
    throw new CommandError(EXIT.timeout, message, { cause });
  }
}

/** A pause of the owner stays. */
async function undrain(stateDir: string): Promise<void> {
  await askAgent(stateDir, 'undrain').catch((error: Error) => {
    say(`The agent still drains: run "gateway-agent resume". (${error.message})`);
  });
}

interface Start {
  readonly root: string;
  readonly version: string;
  readonly stateDir: string;
  readonly url: string | null;
}

/** Null once it is online; else why it is not. It throws nothing: a fault has a way back. */
async function restartAs(service: Daemon, start: Start): Promise<string | null> {
  const { root, version } = start;
  // A version that does not start may not be running now.
  await askTwice(() => service.stop());
  try {
    // The way back writes nothing where nothing was written, so that a full disk does not bar it.
    if ((await linkedVersion(root, 'current')) !== version) await switchTo(root, version);
    await askTwice(() => service.start());
    return await watchStart(service, start);
  } catch (error) {
    // Whichever version is current.
    await askTwice(() => service.start());
    return (error as Error).message;
  }
}

/** A Ctrl-C ends the tools of the operating system that it reaches, too. */
async function askTwice(ask: () => Promise<void>): Promise<void> {
  await ask()
    .catch(ask)
    .catch(() => undefined);
}

/** Null once it is online; else why it is not. */
async function watchStart(service: Daemon, start: Start): Promise<string | null> {
  const begin = performance.now();
  let lastSeen = begin;
  let fault = 'it does not start';
  let runs = false;
  while (performance.now() - begin < ONLINE_MS && performance.now() - lastSeen < DEAD_MS) {
    const answer = await askAgent(start.stateDir, 'status').catch(() => null);
    const agent = answer === null ? null : decodeRunningAgent(answer.result);
    runs = agent !== null && agent.agent_version === start.version;
    if (runs && agent?.connection === 'online') return null;
    if (agent !== null) fault = agent.reason ?? agent.connection;
    if (agent !== null || (await isActive(service))) lastSeen = performance.now();
    await pause(LOOK_MS);
  }
  // A coordinator that is down is no fault of the new version.
  if (!runs || (await isReachable(start.url))) return fault;
  say(`${start.version} runs, and ${start.url} cannot be reached now: it keeps trying.`);
  return null;
}

/** One answer that does not come says nothing of the service. */
async function isActive(service: Daemon): Promise<boolean> {
  const state = await service.state().catch(() => null);
  return state !== null && state.running;
}

async function isReachable(url: string | null): Promise<boolean> {
  if (url === null) return false;
  const answer = await callCoordinator({ url, path: '/healthz', method: 'GET' }).catch(() => null);
  return answer?.status === 200;
}
