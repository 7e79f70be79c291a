// Installs and builds what is missing, so that README's two commands work in a fresh clone.
// Uses nothing but Node itself: it runs before there is a node_modules folder. With `--tests` it
// also installs the packages of the tests and checks the tests' types, and with `--browser` it
// installs the browser that the dashboard's tests need, where it may.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './browsers.js';
import { newest } from './newest.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = join(root, 'test');
const lock = join(root, 'package-lock.json');
const web = join(root, 'packages', 'coordinator', 'web');
/** It is built with the rules that both sides share. */
const sources = [web, join(root, 'packages', 'shared', 'src')];
const page = join(root, 'packages', 'coordinator', 'dist', 'web', 'index.html');
/** The agent that the coordinator hands out. */
const downloads = join(root, 'packages', 'coordinator', 'downloads');
const release = join(downloads, 'release.json');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: install Node 20.19 or newer.`);
  process.exit(2);
}

const withTests = process.argv.includes('--tests');
for (const folder of withTests ? [root, tests] : [root]) {
  if (!isInstalled(folder)) installPackages(folder);
}
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
run(process.execPath, [tsc, '-b', root, ...(withTests ? [tests] : [])]);
if (!existsSync(page) || isOlder(page, lock) || isOlderThanSources()) buildWeb();
if (!existsSync(release) || isOlderThanAgent()) {
  packAgent();
}
if (process.argv.includes('--browser') && findChromium() === null && mayInstall()) {
  installChromium();
}

/** @param {string} folder */
function isInstalled(folder) {
  const installed = join(folder, 'node_modules', '.package-lock.json');
  return existsSync(installed) && !isOlder(installed, join(folder, 'package-lock.json'));
}

/** @param {string} folder */
function installPackages(folder) {
  // A module without a prebuilt binary is compiled on all cores.
  run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, env: { JOBS: 'max' } });
}

function isOlderThanSources() {
  return Math.max(...sources.map(newest)) > statSync(page).mtimeMs;
}

function buildWeb() {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  run(process.execPath, [vite, 'build', web, '--logLevel', 'warn']);
}

function isOlderThanAgent() {
  const built = ['agent', 'shared'].map((name) => newest(join(root, 'packages', name, 'dist')));
  return Math.max(...built) > statSync(release).mtimeMs;
}

function packAgent() {
  const script = join(root, 'packaging', 'package.js');
  run(process.execPath, [script, '--only', 'agent', '--out', downloads]);
}

/** On Ubuntu the package only asks for a snap, which containers and build machines do not have. */
function mayInstall() {
  const system = '/etc/os-release';
  if (process.getuid?.() !== 0 || !existsSync(system)) return false;
  return /^ID=debian$/m.test(readFileSync(system, 'utf8'));
}

/** Without it the tests of the dashboard fail, and say what to do: no reason to stop here. */
function installChromium() {
  console.error('Installing Chromium for the tests of the dashboard…');
  for (const args of [
    ['update'],
    ['install', '--yes', 'chromium-headless-shell', 'fonts-liberation'],
  ]) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const { status } = spawnSync('apt-get', ['-qq', ...args], { stdio: 'inherit', env });
    if (status !== 0) return console.error(`"apt-get ${args.join(' ')}" failed.`);
  }
}

/**
 * @param {string} file
 * @param {string} reference
 */
function isOlder(file, reference) {
  return statSync(file).mtimeMs < statSync(reference).mtimeMs;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} options `env`: beside what stands there.
 */
function run(command, args, { cwd = root, env = {} } = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  console.error(`"${command} ${args.join(' ')}" failed${error ? `: ${error.message}` : ''}.`);
  process.exit(1);
}
