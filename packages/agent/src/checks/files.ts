/** What lies beside the configuration: whose it is, and who else can look into it. */
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check, Checking } from '@inference-gateway/shared/program/check';
import type { ConfigLocation } from '../config-location.js';
import { SPOOL_MAX_BYTES } from '../work/spool-room.js';
import { configFlag } from './patient.js';
import type { RunningAgent } from './patient.js';

const GIB = 1024 ** 3;
/** Not even the answer of one long job fits. */
const SCARCE_BYTES = 64 * 1024 ** 2;
const HAS_MODES = process.platform !== 'win32';

/** `fromEnvironment`: the file does not count. */
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
  /** That it should have. */
  readonly mode: '600' | '700';
}

/** Null where it is this user's alone. */
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

/** Room for the answers of jobs that the coordinator has not confirmed. */
export async function checkSpool({ stateDir }: ConfigLocation): Promise<Check> {
  const { pass, warn, fail, skip } = checking('spool space');
  const folder = await nearestFolder(stateDir);
  if (folder === null) return skip(`no folder above ${stateDir}`);
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free; it takes up to ${SPOOL_MAX_BYTES / GIB} GiB`;
  const look = `du -xh ${dirname(stateDir)} | sort -h | tail`;
  const advice = `Free space; what takes it is told by: ${look}`;
  if (free < SCARCE_BYTES) return fail(found, advice);
  return free < SPOOL_MAX_BYTES ? warn(found, advice) : pass(found);
}

async function nearestFolder(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return path;
  const above = dirname(path);
  return above === path ? null : nearestFolder(above);
}
