// Tests what is released, as root on Debian, with real packages in a real Debian: minutes, so that
// `npm test` does without. Everything is in a temporary folder, which is removed.
//
//   npm run test:packages [-- --only debian,images] [--artifacts DIR] [--allow-missing] [--keep]
//
// --artifacts takes what "npm run package" has written instead of packaging two clones. A step that
// this machine cannot run counts as failed, except with --allow-missing.
import { mkdtempSync, readFileSync, readdirSync, rmSync, chmodSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as debian from './packages/debian.js';
import { buildImages, removeImages, runImages } from './packages/images.js';
import { Missing, requireProgram, run, stopAll } from './packages/processes.js';
import { EARLIER_COMMIT, between, buildEarlier } from './packages/protocol.js';
import { compareSums, packageClone } from './packages/reproducible.js';
import { readHeaders, tryWine } from './packages/windows.js';

const PARTS = ['debian', 'windows', 'images', 'protocol', 'alerts'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    artifacts: { type: 'string' },
    'allow-missing': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const parts = new Set(values.only.split(','));
const unknown = [...parts].filter((part) => !PARTS.includes(part));
if (unknown.length > 0) {
  console.error(`--only takes ${PARTS.join(', ')}: "${unknown.join()}" is none of them.`);
  process.exit(2);
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), 'gateway-packages-'));
// Services of other users read files below it.
chmodSync(scratch, 0o755);
const counts = { passed: 0, failed: 0, missing: 0 };

try {
  await testAll();
} finally {
  await stopAll();
  if (values.keep) console.log(`kept: ${scratch}`);
  else rmSync(scratch, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.missing} cannot run here`);
const isFailure = counts.failed > 0 || (counts.missing > 0 && !values['allow-missing']);
process.exit(isFailure ? 1 : 0);

async function testAll() {
  const artifacts = await artifactsToTest();
  const clean = join(scratch, 'debian');
  const isMade =
    (parts.has('debian') || parts.has('images')) &&
    (await step('a Debian without Node', () => debian.makeDebian(clean)));
  // The step that failed says why.
  if (isMade && parts.has('images')) await testImages(clean);
  if (isMade && parts.has('debian')) await testDebian(clean, artifacts);
  if (parts.has('windows')) await testWindows(artifacts);
  if (parts.has('protocol')) await testProtocol();
  if (parts.has('alerts')) await step('rules of alerts', checkAlerts);
}

/** @returns {Promise<string>} Their folder. */
async function artifactsToTest() {
  if (values.artifacts !== undefined) return resolve(values.artifacts);
  if (!parts.has('debian') && !parts.has('windows')) return '';
  const [one, other] = [join(scratch, 'one'), join(scratch, 'elsewhere', 'other')];
  await step('package the commit', () =>
    packageClone(root, one, { umask: '022', timeZone: 'UTC' }),
  );
  await step('package it again', () =>
    packageClone(root, other, { umask: '077', timeZone: 'Asia/Tokyo' }),
  );
  const artifacts = join(one, 'artifacts');
  await step('reproducible', async () => compareSums(artifacts, join(other, 'artifacts')));
  rmSync(join(scratch, 'elsewhere'), { recursive: true, force: true });
  return artifacts;
}

/** @param {string} clean @param {string} artifacts */
async function testDebian(clean, artifacts) {
  const debs = existsSync(artifacts)
    ? readdirSync(artifacts).filter((name) => name.endsWith('.deb'))
    : [];
  const files = debs.map((name) => join(artifacts, name));
  await step('lintian', () => lint(files));
  await step('apt install, first chat', () => debian.installAndChat(clean, files));
  await step('users, modes, units', () => debian.checkModes(clean));
  await step('upgrade', () => debian.upgrade(clean, scratch));
  const executable = join(artifacts, 'gateway-agent-linux-x64');
  await step('executable for linux-x64', () => debian.tryExecutable(clean, executable));
  await step('remove, purge', () => debian.removeAndPurge(clean));
}

/** @param {readonly string[]} files */
async function lint(files) {
  requireProgram('lintian', 'apt-get install lintian');
  if (files.length === 0) throw new Error('there are no Debian packages');
  const options = ['--fail-on', 'error', '--tag-display-limit', '0', '--allow-root'];
  const told = await run(['lintian', ...options, ...files]);
  return told === '' ? 'no tags' : told.replaceAll('\n', '; ');
}

/** @param {string} artifacts */
async function testWindows(artifacts) {
  const executable = join(artifacts, 'gateway-agent-windows-x64.exe');
  await step('executable for Windows', async () => {
    const blob = join(dirname(artifacts), 'build', 'executable', 'program.blob');
    return readHeaders(executable, readFileSync(blob));
  });
  await step('executable in Wine', () => tryWine(executable, scratch));
}

/** @param {string} clean */
async function testImages(clean) {
  const places = { root, scratch: join(scratch, 'images'), debian: clean };
  await step('build the images', () => buildImages(places));
  await step('run the images', () => runImages(places.scratch));
  await removeImages(places.scratch);
}

async function testProtocol() {
  const earlier = join(scratch, 'earlier');
  await step(`build ${EARLIER_COMMIT}`, () => buildEarlier(root, earlier));
  await step('earlier agent, this coordinator', () =>
    between(root, earlier, join(scratch, 'earlier-agent')),
  );
  await step('this agent, earlier coordinator', () =>
    between(earlier, root, join(scratch, 'earlier-coordinator')),
  );
}

async function checkAlerts() {
  const rules = join(root, 'docs', 'monitoring', 'alerts.yml');
  if (!existsSync(rules)) throw new Missing('docs/monitoring/alerts.yml does not exist');
  requireProgram('promtool', 'apt-get install prometheus');
  return (await run(['promtool', 'check', 'rules', rules])).replaceAll(/\s+/g, ' ');
}

/**
 * @param {string} what
 * @param {() => Promise<string>} work Returns what it saw.
 * @returns {Promise<boolean>} Whether it has passed.
 */
async function step(what, work) {
  const begin = performance.now();
  const [kind, told] = await work().then(
    (text) => /** @type {const} */ (['passed', text]),
    (error) => {
      const { message } = /** @type {Error} */ (error);
      return /** @type {const} */ ([error instanceof Missing ? 'missing' : 'failed', message]);
    },
  );
  counts[kind] += 1;
  if (kind !== 'passed') await stopAll();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1).padStart(7);
  const word = { passed: 'ok     ', failed: 'FAILED ', missing: 'missing' }[kind];
  console.log(`${word} ${seconds} s  ${what}: ${told}`);
  return kind === 'passed';
}
