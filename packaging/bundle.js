// Bundles a program into a folder in the form of an npm package. The result depends only on the
// sources and the lock file: the same commit makes the same bytes.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** @import { OutputChunk } from 'rolldown' */

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The files that a program starts in threads and processes of its own. `own-files.ts` names them
 * relative to itself, so that their folders stay.
 */
const AGENT_ENTRIES = [
  'main',
  'backends/request-bodies-worker',
  'hardware/graphics-process',
  'media/codecs/conversion-worker',
];
const COORDINATOR_ENTRIES = [
  'main',
  'http/bodies/large-bodies-worker',
  'media/duration-worker',
  'store/sqlite/engine/worker',
];

/** Names stay readable in stack traces: shorter ones would save a tenth of the package. */
const COMPACT = { mangle: false, compress: true, codegen: { removeWhitespace: true } };

/**
 * `version` and `releaseKey` are those of the release; the key, in PEM, is null for an unsigned
 * one.
 * @typedef {{ version: string, releaseKey: string | null }} Release
 */

/**
 * Writes the agent's package, which has no dependencies.
 * @param {string} folder
 * @param {Release} release
 */
export async function bundleAgent(folder, release) {
  const chunks = await bundle('agent', AGENT_ENTRIES, folder);
  writeManifest('agent', { folder, version: release.version, dependencies: {} });
  writeLicences(folder, chunks);
  if (release.releaseKey !== null)
    writeFileSync(join(folder, 'release-key.pem'), release.releaseKey);
}

/**
 * Writes the coordinator's package. Its only dependency is better-sqlite3, which holds native code,
 * in the two versions that the supported versions of Node need.
 * @param {string} folder
 * @param {Release} release
 */
export async function bundleCoordinator(folder, release) {
  const chunks = await bundle('coordinator', COORDINATOR_ENTRIES, folder);
  const source = join(ROOT, 'packages', 'coordinator');
  cpSync(join(source, 'dist', 'web'), join(folder, 'dist', 'web'), { recursive: true });
  cpSync(join(source, 'migrations'), join(folder, 'migrations'), { recursive: true });
  const { dependencies, optionalDependencies } = readJson(join(source, 'package.json'));
  const native = {
    dependencies: { 'better-sqlite3': dependencies['better-sqlite3'] },
    optionalDependencies,
  };
  writeManifest('coordinator', { folder, version: release.version, dependencies: native });
  writeLicences(folder, chunks);
}

/**
 * The agent as one script, for an executable without files: its threads are assets.
 * @returns {Promise<{ main: string, assets: Record<string, string> }>}
 */
export async function bundleExecutable() {
  const dist = join(ROOT, 'packages', 'agent', 'dist');
  /** @type {Record<string, string>} */
  const assets = {};
  for (const entry of AGENT_ENTRIES.filter((one) => one.endsWith('-worker'))) {
    assets[entry] = await oneScript(join(dist, `${entry}.js`), 'esm');
  }
  return { main: await oneScript(join(dist, 'executable.js'), 'cjs'), assets };
}

/**
 * @param {string} input
 * @param {'cjs' | 'esm'} format
 */
async function oneScript(input, format) {
  const build = await rolldown({
    input,
    platform: 'node',
    cwd: ROOT,
    plugins: [withoutFiles, withoutFileUrls],
  });
  const { output } = await build.generate({ format, codeSplitting: false, minify: COMPACT });
  await build.close();
  return output[0].code;
}

/** In the executable, `own-files.ts` is replaced. */
const withoutFiles = {
  name: 'without-files',
  /** @param {string} path */
  load: (path) => {
    if (!path.endsWith(join('agent', 'dist', 'own-files.js'))) return null;
    return readFileSync(join(dirname(path), 'own-files-executable.js'), 'utf8');
  },
};

/**
 * Threads of the executable start from `data:` URLs, which `createRequire` refuses. libopus-wasm
 * calls it for Node's own modules only, for which any path does.
 */
const withoutFileUrls = {
  name: 'without-file-urls',
  /** @param {string} code */
  transform: (code) => {
    if (!code.includes('createRequire(import.meta.url)')) return null;
    return code.replaceAll('createRequire(import.meta.url)', 'createRequire(process.execPath)');
  },
};

/**
 * @param {'agent' | 'coordinator'} name
 * @param {readonly string[]} entries
 * @param {string} folder
 * @returns {Promise<OutputChunk[]>}
 */
async function bundle(name, entries, folder) {
  rmSync(folder, { recursive: true, force: true });
  const source = join(ROOT, 'packages', name);
  const input = Object.fromEntries(
    entries.map((entry) => [entry, join(source, 'dist', `${entry}.js`)]),
  );
  const build = await rolldown({
    input,
    platform: 'node',
    cwd: ROOT,
    external: ['better-sqlite3'],
    // Of koa's dependency depd.
    checks: { eval: false },
  });
  const { output } = await build.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    chunkFileNames: '[name].js',
    minify: COMPACT,
    // Its paths are relative to the top of `dist`, also for threads further down.
    codeSplitting: { groups: [{ name: 'own-files', test: /dist[\\/]own-files\.js$/ }] },
  });
  await build.close();
  mkdirSync(join(folder, 'bin'), { recursive: true });
  cpSync(join(source, 'bin'), join(folder, 'bin'), { recursive: true });
  return output.filter((one) => one.type === 'chunk');
}

/**
 * @param {'agent' | 'coordinator'} name
 * @param {{ folder: string, version: string, dependencies: object }} content
 */
function writeManifest(name, { folder, version, dependencies }) {
  const {
    name: packageName,
    description,
    license,
    type,
    engines,
    bin,
  } = readJson(join(ROOT, 'packages', name, 'package.json'));
  const manifest = { name: packageName, version, description, license, type, engines, bin };
  const text = JSON.stringify({ ...manifest, ...dependencies }, null, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

/**
 * The licence of each package of which the bundle holds code.
 * @param {string} folder
 * @param {readonly OutputChunk[]} chunks
 */
function writeLicences(folder, chunks) {
  const homes = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)));
  const texts = [...homes].toSorted().map(licenceOf);
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** @param {string} moduleId */
function packageOf(moduleId) {
  const match = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(moduleId);
  return match?.[1] === undefined ? [] : [match[1]];
}

/** @param {string} home */
function licenceOf(home) {
  const { name, version, license } = readJson(join(home, 'package.json'));
  const file = readdirSync(home).find((one) => /^(licen[cs]e|copying)/i.test(one));
  if (license === undefined && file === undefined) throw new Error(`${home} names no licence`);
  const text = file === undefined ? '' : readFileSync(join(home, file), 'utf8').trim();
  return `${name} ${version} (${license ?? 'see below'})\n\n${text}\n`;
}

/**
 * @param {string} file
 * @returns {any}
 */
export function readJson(file) {
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first.`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
