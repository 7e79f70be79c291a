// Debian packages of both programs for amd64, each with its own Node, so that the system's version
// does not matter. dpkg-deb sorts the files; their times, modes and owners are set here.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sourceDate } from './archive.js';
import { ROOT, bundleAgent, bundleCoordinator } from './bundle.js';
import { LINUX_X64, licenceOfNode, runtimeOf } from './executable.js';
import { completeTree } from './tree.js';
import { AGENT_SERVICE, CARD_GROUPS, STOP_SECONDS } from '../packages/agent/dist/cli/daemon.js';
import { COORDINATOR_SERVICE } from '../packages/coordinator/dist/cli/daemon/daemon-setting.js';
import { serviceUnit } from '../packages/shared/dist/program/daemon/systemd-units.js';

/** @import { Release } from './bundle.js' */
/** @import { DaemonProgram } from '../packages/shared/dist/program/daemon/daemon.js' */

/**
 * @typedef {object} Program
 * @property {'agent' | 'coordinator'} name
 * @property {string} summary
 * @property {string} description
 * @property {DaemonProgram} service
 * @property {string} user
 * @property {readonly string[]} groups Of that user, where they exist.
 * @property {Record<string, string>} environment
 * @property {readonly string[]} conditions Lines of its unit, without which it does not start.
 * @property {string} text What to do after the first installation.
 */

const DATA = '/var/lib/inference-gateway';
const SETTINGS = '/etc/inference-gateway';

/** @type {Program} */
const COORDINATOR = {
  name: 'coordinator',
  summary: 'OpenAI-compatible API over the GPUs that members have at home',
  description: 'The server that callers and agents reach. It needs no GPU and stores in SQLite.',
  service: COORDINATOR_SERVICE,
  user: 'gateway',
  groups: [],
  environment: { GATEWAY_DATA: `${DATA}/coordinator` },
  conditions: [],
  text: `gateway-coordinator listens on http://127.0.0.1:7070 as the user "gateway".
  The first to open the link in this file becomes the admin:
    sudo cat ${DATA}/coordinator/setup-link
  Its address for others, and all settings: ${SETTINGS}/coordinator.env`,
};

/** @type {Program} */
const AGENT = {
  name: 'agent',
  summary: 'serves the model servers of this machine to an Inference Gateway',
  description: 'Runs beside Ollama, llama-server, vLLM and others, and opens no port.',
  service: AGENT_SERVICE,
  user: 'gateway-agent',
  groups: CARD_GROUPS,
  environment: { GATEWAY_AGENT_CONFIG: `${DATA}/agent/config.json` },
  // Written by the log-in.
  conditions: [`ConditionPathExists=${DATA}/agent/config.json.token`],
  text: `gateway-agent waits for a log-in:
    sudo -u gateway-agent gateway-agent login --url https://gateway.example.org
    sudo -u gateway-agent gateway-agent services scan --add
    sudo systemctl start gateway-agent`,
};

/**
 * The unit that "service install" would write, for the folder of the package. The package replaces
 * it, so its first line, which says what else does, is left out.
 * @param {Program} program
 */
function unitOf({ name, service, user, environment, conditions }) {
  const unit = serviceUnit({
    program: service,
    name: service.name,
    scope: 'system',
    folder: '/usr/lib/systemd/system',
    command: [`/usr/bin/${service.name}`, 'start'],
    environment,
    runAs: user,
    writable: [`${DATA}/${name}`],
    groups: [],
    logFile: '',
    // Also of the coordinator, which drains for 30 s unless a setting says otherwise.
    stopSeconds: STOP_SECONDS,
    timer: null,
  });
  return unit
    .slice(unit.indexOf('\n') + 1)
    .replace('\n\n[Service]\n', ['', ...conditions, '', '[Service]', ''].join('\n'))
    .replace('\nExecStart=', `\nEnvironmentFile=-${settingsOf(name)}\nExecStart=`);
}

/** @param {Program['name']} name */
function settingsOf(name) {
  return `${SETTINGS}/${name}.env`;
}

/** Whether this machine can build Debian packages. */
export function canBuildDebs() {
  return spawnSync('dpkg-deb', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * @typedef {object} Target
 * @property {Release} release
 * @property {string} staging A folder for intermediate files.
 * @property {string} out
 */

/**
 * @param {Target} target
 */
export async function buildAgentDeb(target) {
  const tree = join(target.staging, 'deb-agent', homeOf(AGENT));
  await bundleAgent(tree, target.release);
  await buildDeb(AGENT, readFileSync(join(ROOT, 'packaging/debian/agent.env'), 'utf8'), target);
}

/**
 * @param {Target} target
 * @param {(folder: string) => void} addDownloads Fills the folder of what agents may download.
 */
export async function buildCoordinatorDeb(target, addDownloads) {
  const tree = join(target.staging, 'deb-coordinator', homeOf(COORDINATOR));
  await bundleCoordinator(tree, target.release);
  addDownloads(join(tree, 'downloads'));
  await buildDeb(COORDINATOR, await coordinatorSettings(), target);
}

/** @param {Program} program */
function homeOf({ name }) {
  return `usr/lib/inference-gateway-${name}`;
}

/**
 * @param {Program} program
 * @param {string} settings Its file of environment variables.
 * @param {Target} target
 */
async function buildDeb(program, settings, { release, staging, out }) {
  const root = join(staging, `deb-${program.name}`);
  const name = `gateway-${program.name}`;
  const home = join(root, homeOf(program));
  await completeTree(home, { installedBy: 'deb', platform: LINUX_X64.name });
  withoutInterpreter(join(home, 'bin', `${name}.js`));
  mkdirSync(join(home, 'runtime'));
  copyFileSync(await runtimeOf(LINUX_X64), join(home, 'runtime', 'node'));
  const put = putter(root);
  put(`usr/bin/${name}`, source(`launcher-${program.name}`));
  put(`usr/lib/systemd/system/${name}.service`, unitOf(program));
  put(settingsOf(program.name), settings);
  const version = debianVersion(release.version);
  await addDocuments(put, { program, home, version });
  const files = normalise(root);
  addControl(put, { program, version, files, root });
  normalise(root);
  const file = join(out, `${name}_${version}_amd64.deb`);
  // The executables in it are compressed already. Of Node, gzip makes 44.6 MB in 5 s of CPU time,
  // zstd -12 37.5 MB in 9 s, xz -6 29.9 MB in 65 s, which takes a minute for the executables, too.
  // dpkg-deb runs gzip in one thread: its bytes do not depend on the number of processors.
  const compression = ['-Zgzip', '-z6'];
  execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', root, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(sourceDate()) },
  });
}

/** The launcher names the Node to run it with. @param {string} script */
function withoutInterpreter(script) {
  writeFileSync(script, readFileSync(script, 'utf8').replace(/^#!.*\n/, ''));
}

/**
 * `1.2.0-beta.1` is older than `1.2.0`, which Debian writes with a tilde.
 * @param {string} version
 */
function debianVersion(version) {
  return version.replace('-', '~');
}

/** @param {string} name */
function source(name) {
  return readFileSync(join(ROOT, 'packaging', 'debian', name), 'utf8');
}

/**
 * Writes files below a folder.
 * @param {string} root
 * @returns {(path: string, content: string | Buffer) => void}
 */
function putter(root) {
  return (path, content) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
}

/**
 * Every setting with its default, commented out.
 * @returns {Promise<string>}
 */
async function coordinatorSettings() {
  const file = join(ROOT, 'packages', 'coordinator', 'dist', 'config', 'settings.js');
  const { SETTINGS: table } = await import(file);
  /** @type {{ name: string, default: string | null, allowed: string, doc: string }[]} */
  const rows = Object.values(table);
  const texts = rows
    .filter(({ name }) => name !== 'DATA')
    .map(
      ({ name, default: usual, allowed, doc }) =>
        `# ${doc}\n# Takes ${allowed}.\n#GATEWAY_${name}=${usual ?? ''}\n`,
    );
  const intro =
    '# Settings of gateway-coordinator.service, each with its default.\n' +
    '# After a change: systemctl restart gateway-coordinator\n';
  return [intro, ...texts].join('\n');
}

/**
 * @param {(path: string, content: string | Buffer) => void} put
 * @param {{ program: Program, home: string, version: string }} about
 */
async function addDocuments(put, { program, home, version }) {
  const name = `gateway-${program.name}`;
  const folder = `usr/share/doc/${name}`;
  const date = new Date(sourceDate() * 1000).toUTCString().replace('GMT', '+0000');
  const entry = `inference-gateway (${version}) unstable; urgency=medium

  * Release ${version}. CHANGELOG.md.gz tells what has changed for users.

 -- ${maintainer()}  ${date}
`;
  put(`${folder}/changelog.gz`, compressed(entry));
  put(`${folder}/CHANGELOG.md.gz`, compressed(readFileSync(join(ROOT, 'CHANGELOG.md'))));
  put(`${folder}/copyright`, copyright());
  const others = readFileSync(join(home, 'THIRD-PARTY-LICENSES.txt'));
  put(`${folder}/THIRD-PARTY-LICENSES.txt.gz`, compressed(others));
  const node = readFileSync(await licenceOfNode());
  put(`${folder}/LICENSE-node.txt.gz`, compressed(node));
  const overrides = source('lintian-overrides').replaceAll('@PACKAGE@', name);
  const kept = overrides.split('\n').filter((line) => isAbout(line, program));
  put(`usr/share/lintian/overrides/${name}`, kept.join('\n'));
}

/** @param {string} line @param {Program} program */
function isAbout(line, { name }) {
  return name === 'coordinator' || !line.includes('prebuilds');
}

/** @param {string | Buffer} text */
function compressed(text) {
  return gzipSync(text, { level: 9 });
}

function copyright() {
  const [, ...licence] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim().split('\n');
  const [holder = '', ...terms] = licence.filter((line, index) => index > 0 || line !== '');
  const text = terms
    .join('\n')
    .trim()
    .split('\n')
    .map((line) => (line === '' ? ' .' : ` ${line}`));
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: ${holder.replace(/^Copyright \(c\) /, '')}
License: Expat
Comment: The bundled packages have the licences in THIRD-PARTY-LICENSES.txt.gz, and Node.js with
 what it holds those in LICENSE-node.txt.gz, both in this folder. Packages beside the bundle have
 a file LICENSE of their own.

License: Expat
${text.join('\n')}
`;
}

/** As in other tools of Debian, the environment names the one who builds. */
function maintainer() {
  const { DEBFULLNAME, DEBEMAIL } = process.env;
  const name = DEBFULLNAME ?? 'Inference Gateway contributors';
  return `${name} <${DEBEMAIL ?? 'contributors@inference-gateway.invalid'}>`;
}

/**
 * @param {(path: string, content: string) => void} put
 * @param {{ program: Program, version: string, files: readonly string[], root: string }} about
 */
function addControl(put, { program, version, files, root }) {
  const { name, service, summary, description, user, groups, text } = program;
  const kib = files.map((file) => Math.ceil(statSync(join(root, file)).size / 1024));
  const control = [
    `Package: gateway-${name}`,
    'Source: inference-gateway',
    `Version: ${version}`,
    'Architecture: amd64',
    `Maintainer: ${maintainer()}`,
    `Installed-Size: ${kib.reduce((sum, one) => sum + one, 0)}`,
    // What the runtime of Node needs.
    'Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)',
    ...(name === 'agent' ? ['Suggests: ffmpeg'] : ['Suggests: caddy | nginx']),
    'Section: net',
    'Priority: optional',
    `Description: ${summary}`,
    ` ${description}`,
    ' It brings its own Node.js.',
  ];
  put('DEBIAN/control', `${control.join('\n')}\n`);
  put('DEBIAN/conffiles', `${settingsOf(name)}\n`);
  const sums = files.map((file) => `${md5(join(root, file))}  ${file}\n`);
  put('DEBIAN/md5sums', sums.join(''));
  /** @type {Record<string, string>} */
  const values = {
    PACKAGE: `gateway-${name}`,
    USER: user,
    DATA: `${DATA}/${name}`,
    TITLE: service.title,
    GROUPS: groups.join(' '),
    TEXT: text,
  };
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(
      `DEBIAN/${script}`,
      source(script).replaceAll(/@([A-Z]+)@/g, (_, key) => values[key] ?? ''),
    );
  }
}

/** The digest that dpkg's list of files has. @param {string} file */
function md5(file) {
  return createHash('md5').update(readFileSync(file)).digest('hex');
}

const EXECUTABLE = /^(usr\/bin\/|DEBIAN\/(postinst|prerm|postrm)$)|\/runtime\/node$/;

/**
 * Sets modes and times that depend neither on the checkout nor on the clock.
 * @param {string} root
 * @returns {string[]} The files without those of the control archive, in order.
 */
function normalise(root) {
  const entries = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  const time = sourceDate();
  const files = entries.filter((path) => {
    const full = join(root, path);
    const isFolder = statSync(full).isDirectory();
    chmodSync(full, modeOf(path, isFolder));
    lutimesSync(full, time, time);
    return !isFolder && !path.startsWith('DEBIAN');
  });
  chmodSync(root, 0o755);
  lutimesSync(root, time, time);
  return files;
}

/** @param {string} path @param {boolean} isFolder */
function modeOf(path, isFolder) {
  if (isFolder || EXECUTABLE.test(path)) return 0o755;
  // A setting may be a secret. systemd reads the file as root.
  return path.endsWith('.env') ? 0o640 : 0o644;
}
