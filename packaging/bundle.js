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
  'store/sqlite/worker',
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
 * @param {readonly string[]} entries More files of `dist` that are loaded by their names.
 */
export async function bundleAgent(folder, release, entries = []) {
  const chunks = await bundle('agent', [...AGENT_ENTRIES, ...entries], folder);
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
 * @param {readonly string[]} entries More files of `dist` that are loaded by their names.
 */
export async function bundleCoordinator(folder, release, entries = []) {
  const chunks = await bundle('coordinator', [...COORDINATOR_ENTRIES, ...entries], folder);
  const source = join(ROOT, 'packages', 'coordinator');
  cpSync(join(source, 'dist', 'web'), join(folder, 'dist', 'web'), { recursive: true });
  for (const name of ['migrations', 'install']) {
    cpSync(join(source, name), join(folder, name), { recursive: true });
  }
  const { optionalDependencies } = readJson(join(source, 'package.json'));
  const dependencies = { optionalDependencies };
  writeManifest('coordinator', { folder, version: release.version, dependencies });
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

/** The own URL of a thread of the executable, which is started from a URL with its source. */
const OWN_URL = 'ownUrl';
const OWN_URL_INTRO =
  'import { pathToFileURL } from "node:url"; const ownUrl = pathToFileURL(process.execPath).href;';

/**
 * @param {string} input
 * @param {'cjs' | 'esm'} format
 */
async function oneScript(input, format) {
  const isThread = format === 'esm';
  const build = await rolldown({
    input,
    platform: 'node',
    cwd: ROOT,
    plugins: [withoutFiles, withoutUndici, asciiOnly],
    // A library makes a `require` of it, which takes URLs of files only.
    transform: isThread ? { define: { 'import.meta.url': OWN_URL } } : {},
  });
  const intro = isThread ? OWN_URL_INTRO : '';
  const { output } = await build.generate({ format, intro, codeSplitting: false, minify: COMPACT });
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

const HTTP = 'plain-http';
const HTTP_VALUES =
  'Agent, METHODS, STATUS_CODES, createServer, request, validateHeaderName, validateHeaderValue';

/**
 * An `import` of `node:http` reads all its exports, also `WebSocket`, for which Node 24 loads its
 * own undici: 6 MB of memory in each program, which neither uses.
 */
const withoutUndici = {
  name: 'without-undici',
  /**
   * @param {string} source
   * @param {string | undefined} _importer
   * @param {{ kind: string }} how
   */
  resolveId: (source, _importer, { kind }) => {
    return /^(node:)?http$/.test(source) && kind === 'import-statement' ? HTTP : null;
  },
  /** @param {string} id */
  load: (id) => {
    if (id !== HTTP) return null;
    return `const http = process.getBuiltinModule('node:http');
      export const { ${HTTP_VALUES} } = http;
      export default http;`;
  },
};

/** A single character beyond Latin-1 makes V8 keep the whole file with two bytes a character. */
const asciiOnly = {
  name: 'ascii-only',
  /**
   * @param {unknown} _options
   * @param {Record<string, { type: string, code?: string }>} files
   */
  generateBundle: (_options, files) => {
    for (const file of Object.values(files)) {
      if (file.code !== undefined) file.code = escaped(file.code);
    }
  },
};

/** @param {string} code */
function escaped(code) {
  // There an escape would be six characters.
  if (/String\.raw`[^`]*[^\0-\xff]/.test(code)) throw new Error('String.raw beyond Latin-1');
  return code.replaceAll(/[^\0-\xff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

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
    plugins: [withoutUndici, asciiOnly],
    // Of koa's dependency depd.
    checks: { eval: false },
  });
  const { output } = await build.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    chunkFileNames: '[name].js',
    minify: COMPACT,
    // Its paths are relative to the top of `dist`, also for threads further down.
    codeSplitting: {
      groups: [
        { name: 'own-files', test: /dist[\\/]own-files\.js$/ },
        // They import nothing. V8 needs ten times the memory of a file while it parses it.
        { name: 'zod', test: /node_modules[\\/]zod[\\/]/ },
        { name: 'mime-db', test: /node_modules[\\/]mime-db[\\/]/ },
      ],
    },
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
