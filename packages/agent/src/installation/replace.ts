/** Unpacks a downloaded file of a release as a version of this installation, and tries it. */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { bytesText } from '@inference-gateway/shared/program/print';
import type { Artifact, Release } from '@inference-gateway/shared/program/release';
import { fetchArtifact } from './fetch-release.js';
import type { Installation } from './installation.js';

const TOOL_TIMEOUT_MS = 120_000;
/** How long `version` may take on a slow disk. */
const TRIAL_TIMEOUT_MS = 30_000;
/** The download and what is in it, as multiples of its size. */
const SPACE_FACTOR = 5;

/** The file of a release that fits this installation. Throws a `CommandError` if there is none. */
export function artifactFor({ artifacts, version }: Release, { kind }: Installation): Artifact {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const platform = `${system === 'darwin' ? 'macos' : system}-${process.arch}`;
  const found = artifacts.find(
    (one) => one.kind === kind && (one.platform === null || one.platform === platform),
  );
  if (found !== undefined) return found;
  const message = `release ${version} has no ${kind} for ${platform}. Ask the administrator.`;
  throw new CommandError(EXIT.notFound, message);
}

/**
 * Downloads a version beside the current one, and runs it once. Throws a `CommandError` if anything
 * fails: then nothing has changed.
 */
export async function addVersion(
  installation: Installation,
  { version }: Release,
  source: { readonly url: string; readonly artifact: Artifact },
): Promise<void> {
  const { root } = installation;
  const { url, artifact } = source;
  await requireSpace(root, artifact);
  const work = join(root, `.new.${process.pid}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(join(work, 'agent'), { recursive: true, mode: 0o700 });
  try {
    await fetchArtifact(url, artifact, join(work, artifact.file));
    await unpack(installation, join(work, artifact.file), join(work, 'agent'));
    await tryOut(join(work, 'agent', programOf(installation)), version);
    const folder = join(root, 'versions', version);
    await rm(folder, { recursive: true, force: true });
    await rename(join(work, 'agent'), folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function requireSpace(root: string, { bytes }: Artifact): Promise<void> {
  const { bavail, bsize } = await statfs(root);
  const [free, needed] = [bavail * bsize, bytes * SPACE_FACTOR];
  if (free >= needed) return;
  throw new CommandError(
    EXIT.failure,
    `${root} has ${bytesText(free)} free, and ${bytesText(needed)} are needed: make room.`,
  );
}

async function unpack(installation: Installation, file: string, folder: string): Promise<void> {
  const program = join(folder, programOf(installation));
  if (installation.kind === 'package') {
    // Windows has it since 2018.
    await run('tar', ['-xzf', file, '-C', folder, '--strip-components', '1'], TOOL_TIMEOUT_MS);
    // How Node is started was decided when the agent was installed.
    const current = join(installation.root, 'versions', installation.version);
    await copyFile(join(current, programOf(installation)), program);
    return;
  }
  await pipeline(createReadStream(file), createGunzip(), createWriteStream(program));
  await chmod(program, 0o755);
}

/** What `bin/gateway-agent` starts in the folder of a version. */
function programOf({ kind }: Installation): string {
  const isWindows = process.platform === 'win32';
  if (kind === 'package') return isWindows ? 'run.cmd' : 'run';
  return isWindows ? 'gateway-agent.exe' : 'gateway-agent';
}

async function tryOut(program: string, version: string): Promise<void> {
  const printed = await run(program, ['version'], TRIAL_TIMEOUT_MS);
  if (printed.trim() === version) return;
  throw new CommandError(
    EXIT.failure,
    `the new version does not start: ${version} printed "${printed.trim()}". Nothing has changed.`,
  );
}

function run(program: string, args: readonly string[], timeout: number): Promise<string> {
  // A script of the shell of Windows is no program.
  const shell = program.endsWith('.cmd');
  return new Promise((done, failed) => {
    execFile(
      shell ? `"${program}"` : program,
      args,
      { timeout, shell },
      (error, stdout, stderr) => {
        if (error === null) return done(stdout);
        const reason = stderr.trim().split('\n').at(-1) || error.message;
        failed(new CommandError(EXIT.failure, `${program} fails: ${reason} Nothing has changed.`));
      },
    );
  });
}
