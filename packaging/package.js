// `npm run package`: builds what is released into `artifacts/`, with a SHA256SUMS.
//
//   npm run package [-- --only agent,executables,coordinator,deb] [--version 1.2.3]
//                       [--key FILE] [--out DIR]
//
// The same commit makes the same bytes. `--key FILE` signs the release with the Ed25519 key in that
// file (PEM), which is made if it is missing: keep it, because agents accept only releases of the
// key that they were installed with. Without it the release is unsigned.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, bundleAgent, bundleCoordinator, readJson } from './bundle.js';
import { archive } from './archive.js';
import { buildAgentDeb, buildCoordinatorDeb, canBuildDebs } from './deb.js';
import { EXECUTABLES, buildExecutable } from './executable.js';

/** @import { Release } from './bundle.js' */

/**
 * One file of a release, as `release.json` names it.
 * @typedef {object} Artifact
 * @property {string} file
 * @property {'package' | 'executable'} kind
 * @property {string | null} platform Null if it runs on all.
 * @property {number} bytes
 * @property {string} sha256
 */

const SUMS = 'SHA256SUMS';
/** What a run writes, also one that was interrupted. */
const WRITTEN = /^(gateway-(agent|coordinator)[-_].+|release\.json(\.sig)?|SHA256SUMS|\.staging)$/;

const PARTS = ['agent', 'executables', 'coordinator', 'deb'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    version: { type: 'string' },
    key: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'artifacts') },
  },
});
const parts = new Set(values.only.split(','));
const out = resolve(values.out);
const staging = join(out, '.staging');

await main();

async function main() {
  const unknown = [...parts].filter((part) => !PARTS.includes(part));
  if (unknown.length > 0)
    fail(`--only takes ${PARTS.join(', ')}: "${unknown.join()}" is none of them.`);
  const { version = readJson(join(ROOT, 'packages', 'agent', 'package.json')).version } = values;
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version))
    fail(`"${version}" is no version like 1.2.3.`);
  clear();
  const privateKey = values.key === undefined ? null : signingKey(values.key);
  const releaseKey =
    privateKey === null
      ? null
      : String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  const release = { version, releaseKey };
  mkdirSync(staging, { recursive: true });
  try {
    await build(release, privateKey);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  writeSums();
}

/** Removes what an earlier run has written, if the folder holds nothing else. */
function clear() {
  const names = existsSync(out) ? readdirSync(out) : [];
  const other = names.find((name) => !WRITTEN.test(name));
  if (other !== undefined)
    fail(`${out} holds ${other}, which is no part of a release: name another folder with --out.`);
  for (const name of names) rmSync(join(out, name), { recursive: true });
}

/**
 * @param {Release} release
 * @param {import('node:crypto').KeyObject | null} privateKey
 */
async function build(release, privateKey) {
  const { version } = release;
  const agent = join(staging, 'agent');
  await timed('agent', async () => {
    await bundleAgent(agent, release);
    await archive(agent, join(out, `gateway-agent-${version}.tgz`));
  });
  const debs = parts.has('deb') && canBuildDebs();
  // The coordinator's Debian package hands them out.
  if (parts.has('executables') || debs) {
    for (const platform of EXECUTABLES) {
      await timed(`executable for ${platform.name}`, () => buildExecutable(platform, release, out));
    }
  }
  writeRelease(release, privateKey);
  const coordinator = join(staging, 'coordinator');
  if (parts.has('coordinator')) {
    await timed('coordinator', async () => {
      await bundleCoordinator(coordinator, release);
      addDownloads(join(coordinator, 'downloads'), [`gateway-agent-${version}.tgz`]);
      await archive(coordinator, join(out, `gateway-coordinator-${version}.tgz`));
    });
  }
  if (debs) await buildDebs(release);
  else if (parts.has('deb')) console.log(NO_DPKG);
}

const NO_DPKG =
  'No Debian packages are built: this machine has no dpkg-deb (apt-get install dpkg).';

/** @param {Release} release */
async function buildDebs(release) {
  const target = { release, staging, out };
  await timed('agent for Debian', () => buildAgentDeb(target));
  const names = readdirSync(out).filter((name) => /^gateway-agent-.*\.(tgz|gz)$/.test(name));
  await timed('coordinator for Debian', () =>
    buildCoordinatorDeb(target, (folder) => addDownloads(folder, names)),
  );
}

/**
 * What a coordinator hands out: the list, its signature, and these of its files. The executables
 * are too large for the package of npm; `GATEWAY_DOWNLOADS_DIR` names a folder that has them, too.
 * @param {string} folder
 * @param {readonly string[]} names
 */
function addDownloads(folder, names) {
  mkdirSync(folder);
  for (const name of ['release.json', 'release.json.sig', ...names]) {
    const file = join(out, name);
    if (existsSync(file)) writeFileSync(join(folder, name), readFileSync(file));
  }
}

/**
 * @param {Release} release
 * @param {import('node:crypto').KeyObject | null} privateKey
 */
function writeRelease({ version }, privateKey) {
  const artifacts = readdirSync(out)
    .filter((name) => name.startsWith('gateway-agent-') && /\.(tgz|gz)$/.test(name))
    .toSorted()
    .map(artifactOf);
  const text = `${JSON.stringify({ version, artifacts }, null, 2)}\n`;
  writeFileSync(join(out, 'release.json'), text);
  if (privateKey === null) return;
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
  writeFileSync(join(out, 'release.json.sig'), `${signature}\n`);
}

/**
 * @param {string} file
 * @returns {Artifact}
 */
function artifactOf(file) {
  const path = join(out, file);
  const kind = file.endsWith('.tgz') ? 'package' : 'executable';
  const platform = /^gateway-agent-([a-z]+-[a-z0-9]+)(\.exe)?\.gz$/.exec(file)?.[1] ?? null;
  return { file, kind, platform, bytes: statSync(path).size, sha256: digest(path) };
}

/** As `sha256sum --check` reads it. */
function writeSums() {
  const names = readdirSync(out)
    .filter((name) => name !== SUMS)
    .toSorted();
  const lines = names.map((name) => `${digest(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, SUMS), lines.join(''));
  for (const name of names) {
    const mib = statSync(join(out, name)).size / 1024 / 1024;
    console.log(`${mib.toFixed(2).padStart(8)} MiB  ${name}`);
  }
}

/** @param {string} path */
function digest(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/**
 * The key in this file, or a new one, which only its owner may read.
 * @param {string} file
 */
function signingKey(file) {
  if (!relative(out, resolve(file)).startsWith('..'))
    fail(`The key must not lie in ${out}, which is handed out: name another file with --key.`);
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    console.log(`A new key to sign releases with is in ${file}. Keep it, and keep it secret.`);
  }
  const key = createPrivateKey(readFileSync(file));
  if (key.asymmetricKeyType !== 'ed25519') fail(`${file} holds no Ed25519 key.`);
  return key;
}

/**
 * @param {string} what
 * @param {() => Promise<void>} work
 */
async function timed(what, work) {
  const start = performance.now();
  await work();
  console.log(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(2);
}
