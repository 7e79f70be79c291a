// The agent as a single executable, which needs no Node on its machine: a runtime of Node with the
// program in it (https://nodejs.org/api/single-executable-applications.html).
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
// @ts-expect-error It has no types.
import { inject } from 'postject';
import { ROOT, bundleExecutable, readJson } from './bundle.js';
import { extractPackage } from './registry.js';

/** @import { Release } from './bundle.js' */

/**
 * A runtime of Node in the npm registry, with the digest that a lock file would have.
 * @typedef {{ name: string, runtime: string, binary: string, integrity: string }} Platform
 */

/** @type {{ version: string, platforms: readonly Platform[] }} */
const RUNTIMES = readJson(join(ROOT, 'packaging', 'runtimes.json'));
const NODE_VERSION = RUNTIMES.version;

export const EXECUTABLES = RUNTIMES.platforms;
export const LINUX_X64 = platformOf('linux-x64');

/**
 * @param {string} name
 * @returns {Platform}
 */
export function platformOf(name) {
  const platform = EXECUTABLES.find((one) => one.name === name);
  if (platform === undefined) throw new Error(`packaging/runtimes.json has no ${name}`);
  return platform;
}

/** Where Node looks for the program. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Writes `gateway-agent-<platform>` and its compressed form.
 * @param {Platform} platform
 * @param {Release} release
 * @param {string} out
 */
export async function buildExecutable(platform, release, out) {
  const blob = await programBlob(release);
  const ending = platform.name.startsWith('windows') ? '.exe' : '';
  const file = join(out, `gateway-agent-${platform.name}${ending}`);
  const runtime = readFileSync(await runtimeOf(platform));
  writeFileSync(file, ending === '' ? runtime : withoutSignature(runtime), { mode: 0o755 });
  await inject(file, RESOURCE, blob, { sentinelFuse: FUSE });
  chmodSync(file, 0o755);
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 6 }));
}

/** @type {Promise<Buffer> | null} */
let blobMade = null;

/**
 * The same for all platforms, since it holds neither a snapshot nor compiled code.
 * @param {Release} release
 */
function programBlob(release) {
  blobMade ??= makeBlob(release);
  return blobMade;
}

/**
 * @param {Release} release
 * @returns {Promise<Buffer>}
 */
async function makeBlob({ version, releaseKey }) {
  const folder = join(ROOT, 'build', 'executable');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { main, assets } = await bundleExecutable();
  const texts = { ...assets, version, 'release-key': releaseKey ?? '' };
  // Relative to the folder: the blob holds the path of its script.
  const paths = Object.entries(texts).map(([name, text], index) => {
    const path = `asset-${index}`;
    writeFileSync(join(folder, path), text);
    return [name, path];
  });
  writeFileSync(join(folder, 'main.cjs'), main);
  const config = {
    main: 'main.cjs',
    output: 'program.blob',
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    assets: Object.fromEntries(paths),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const node = await runtimeOf(LINUX_X64);
  const args = ['--experimental-sea-config', 'config.json'];
  execFileSync(node, args, { cwd: folder, stdio: 'pipe' });
  return readFileSync(join(folder, config.output));
}

/**
 * @param {Platform} platform
 * @returns {Promise<string>} The path of its program.
 */
export async function runtimeOf(platform) {
  return join(await runtimeFolder(platform), platform.binary);
}

/** The licences of Node and of what it holds. @returns {Promise<string>} The path of the file. */
export async function licenceOfNode() {
  return join(await runtimeFolder(LINUX_X64), LICENCE);
}

const LICENCE = 'LICENSE';

/**
 * @param {Platform} platform
 * @returns {Promise<string>}
 */
function runtimeFolder({ runtime, binary, integrity }) {
  const wanted = { name: runtime, version: NODE_VERSION, integrity };
  return extractPackage(wanted, [binary, LICENCE]);
}

// The signature of Windows' node.exe, which the change makes invalid: some systems refuse a wrong
// signature, none refuses a missing one.

/** Offsets of the format PE32+, https://learn.microsoft.com/windows/win32/debug/pe-format */
const PE_OFFSET = 0x3c;
const OPTIONAL_HEADER = 24;
const CHECKSUM = 64;
const CERTIFICATE_TABLE = 112 + 4 * 8;

/**
 * @param {Buffer} program
 * @returns {Buffer}
 */
export function withoutSignature(program) {
  const header = program.readUInt32LE(PE_OFFSET) + OPTIONAL_HEADER;
  const start = program.readUInt32LE(header + CERTIFICATE_TABLE);
  const size = program.readUInt32LE(header + CERTIFICATE_TABLE + 4);
  if (start === 0) return program;
  if (start + size !== program.length) throw new Error('the signature is not the end of node.exe');
  const bare = Buffer.from(program.subarray(0, start));
  bare.writeUInt32LE(0, header + CHECKSUM);
  bare.writeBigUInt64LE(0n, header + CERTIFICATE_TABLE);
  return bare;
}
