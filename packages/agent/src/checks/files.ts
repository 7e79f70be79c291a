/** Checks the files beside the configuration: their owner, and who else can read them. */
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check, Checking } from '@inference-gateway/shared/program/check';
import {
  bytesBelow,
  freeBytesOf,
  inShell,
  worthFreeing,
} from '@inference-gateway/shared/program/disk';
import type { Freeable } from '@inference-gateway/shared/program/disk';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import type { ConfigLocation } from '../config/file.js';
import { SPOOL_MAX_BYTES } from '../work/spool-room.js';
import { loadConfig } from '../config/config.js';
import type { AgentConfig } from '../config/config.js';
import { configFlag } from './patient.js';
import type { RunningAgent } from './patient.js';

const GIB = 1024 ** 3;

/** Not even the answer of one long job fits. */
const SCARCE_BYTES = 64 * 1024 ** 2;

const HAS_MODES = process.platform !== 'win32';

/** `fromEnvironment`: the file is ignored. */
export async function checkTokenFile(
  location: ConfigLocation,
  fromEnvironment: boolean,
): Promise<Check> {
  const told = checking('token');
  if (fromEnvironment) return told.pass('GATEWAY_AGENT_TOKEN');
  const { tokenFile } = location;
  const found = await stat(tokenFile).catch(() => null);
  if (found === null) {
    const advice = `Join with: gateway-agent login${configFlag(location)} --url <coordinator>`;
    return told.fail(`${tokenFile} is missing: this machine is not enrolled`, advice);
  }
  return (
    (await openToOthers(told, tokenFile, { stats: found, mode: '600' })) ?? told.pass(tokenFile)
  );
}

export async function checkStateFolder(
  { stateDir }: ConfigLocation,
  running: RunningAgent | null,
): Promise<Check> {
  const told = checking('state folder');
  const found = await stat(stateDir).catch(() => null);
  if (found === null) return told.pass(`${stateDir} is made at the first start`);
  if (!found.isDirectory()) {
    return told.fail(
      `${stateDir} is no folder`,
      `Move it away with: mv ${stateDir} ${stateDir}.old`,
    );
  }
  const lock = running === null ? 'no agent runs' : `an agent runs (process ${running.pid})`;
  const fault = await openToOthers(told, stateDir, { stats: found, mode: '700' });
  return fault ?? told.pass(`${stateDir}, ${lock}`);
}

interface Kept {
  readonly stats: Stats;
  /** The mode that it should have. */
  readonly mode: '600' | '700';
}

/** Null if only this user can read it. */
async function openToOthers(
  told: Checking,
  path: string,
  { stats, mode }: Kept,
): Promise<Check | null> {
  if (HAS_MODES && (stats.mode & 0o077) !== 0) {
    const octal = (stats.mode & 0o777).toString(8);
    const found = `${path} is open to other users (mode ${octal})`;
    return told.fail(found, `Close it with: chmod ${mode} ${path}`);
  }
  try {
    await access(path, constants.R_OK | constants.W_OK);
    return null;
  } catch {
    const advice = `Give it to the user that runs the agent: sudo chown -R <user> ${path}`;
    return told.fail(`${path} cannot be read and written`, advice);
  }
}

/** Room for answers of jobs that the coordinator has not confirmed. */
export async function checkSpool(
  location: ConfigLocation,
  running: RunningAgent | null,
  freeBytes: number | null = null,
): Promise<Check> {
  const { stateDir } = location;
  const { pass, warn, fail, skip } = checking('spool space');
  const folder = await nearestFolder(stateDir);
  if (folder === null) return skip(`no folder above ${stateDir}`);
  const free = freeBytes ?? freeBytesOf(folder);
  const found = `${(free / GIB).toFixed(1)} GiB free; it takes up to ${SPOOL_MAX_BYTES / GIB} GiB`;
  if (free >= SPOOL_MAX_BYTES) return pass(found);
  const look = `du -xh ${inShell(dirname(stateDir))} | sort -h | tail`;
  const advice = `Free space; what takes it is told by: ${look}`;
  const freeable = worthFreeing(await whatCanGo(location, running));
  return free < SCARCE_BYTES ? fail(found, advice, freeable) : warn(found, advice, freeable);
}

/** Which of the agent's own files can be removed. */
async function whatCanGo(
  location: ConfigLocation,
  running: RunningAgent | null,
): Promise<Freeable[]> {
  const { stateDir } = location;
  const [spool, log, proofs] = [
    join(stateDir, 'spool'),
    join(stateDir, 'agent.log'),
    join(stateDir, 'proofs.json'),
  ];
  // A running agent sends its answers itself; only files that it does not hold open can be removed.
  const send = running === null ? `start${configFlag(location)}` : `jobs${configFlag(location)}`;
  const empty = HAS_MODES ? `: > ${inShell(log)}` : `Clear-Content ${inShell(log)}`;
  const found = [
    {
      what: 'of answers that the coordinator has not taken yet; they go when it has them',
      bytes: await bytesBelow(spool),
      command: `gateway-agent ${send}`,
    },
    { what: 'of log', bytes: await bytesBelow(log), command: empty },
  ];
  if (running !== null) return found;
  const what = 'of what the models have shown; they are asked again';
  return [...found, { what, bytes: await bytesBelow(proofs), command: `rm ${inShell(proofs)}` }];
}

async function nearestFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return path;
  const above = dirname(path);
  return above === path ? null : nearestFolder(above);
}

interface ExaminedConfig {
  readonly check: Check;
  /** Null if it is invalid. */
  readonly config: AgentConfig | null;
}

/** Reports all faults at once. */
export async function checkConfiguration(location: ConfigLocation): Promise<ExaminedConfig> {
  const { fail } = checking('configuration');
  try {
    const config = await loadConfig(location);
    return { check: judge(config), config };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const again = `gateway-agent doctor${configFlag(location)}`;
    const check = fail(error.message, `Correct ${location.file}, and look again with: ${again}`);
    return { check, config: null };
  }
}

function judge({ url, services, location }: AgentConfig): Check {
  const { pass, warn, fail } = checking('configuration');
  const flag = configFlag(location);
  if (url === null) {
    const advice = `Join one with: gateway-agent login${flag} --url <coordinator>`;
    return fail(`${location.file} names no coordinator`, advice);
  }
  const count = services.length === 1 ? '1 service' : `${services.length} services`;
  const found = `${location.file}, ${count}`;
  if (services.length > 0) return pass(found);
  return warn(found, `Look for model servers with: gateway-agent services scan --add${flag}`);
}
