// The Debian packages and the executable for Linux, in a Debian without Node and without systemd.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildAgentDeb, buildCoordinatorDeb } from '../../packaging/deb.js';
import { chat, job, modelsOf, opusSpeech, stream } from './calls.js';
import { Missing, outcome, requireProgram, run, start } from './processes.js';

/** @import { Started } from './processes.js' */
/** @import { Caller } from './calls.js' */

const DATA = '/var/lib/inference-gateway';
const OWNER = 'you@example.com';
const PORT = '17171';
/** Sorts after every version of this repository. */
const NEXT_VERSION = '99.0.0';
/** More than the large bodies that threads parse. */
const LARGE_TEXT = 'word '.repeat(120_000);

/**
 * Makes a Debian in a folder, with what apt needs to install from there.
 * @param {string} folder
 */
export async function makeDebian(folder) {
  if (process.getuid?.() !== 0) throw new Missing('only root makes a chroot');
  requireProgram('mmdebstrap', 'apt-get install mmdebstrap');
  const packages = '--include=adduser,ca-certificates,libstdc++6';
  await run(['mmdebstrap', '--variant=minbase', packages, 'bookworm', folder]);
  cpSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'), { dereference: true });
  return `${(await within(folder, ['dpkg-query', '-W'])).split('\n').length} packages, no Node`;
}

/**
 * A command in the chroot, with its own /proc; the mounts end with the command.
 * @param {string} root
 * @param {readonly string[]} command
 */
function inside(root, command) {
  const script =
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"';
  return ['unshare', '--mount', 'sh', '-c', script, root, ...command];
}

/** @param {string} root @param {readonly string[]} command @param {string} [input] */
function within(root, command, input = '') {
  return run(inside(root, command), { input, env: ENVIRONMENT });
}

const ENVIRONMENT = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };

/** A command as another user. @param {string} user @param {readonly string[]} command */
function as(user, command) {
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', ...command];
}

/** @param {string} root @param {string} program */
function execStart(root, program) {
  const unit = readFileSync(join(root, `usr/lib/systemd/system/${program}.service`), 'utf8');
  const variables = [...unit.matchAll(/^Environment="?([^"\n]+)"?$/gm)].map(([, one]) => one ?? '');
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  const words = command.split(' ').map((word) => word.replaceAll('"', ''));
  return ['env', ...variables, ...words];
}

/**
 * Installs both packages with apt, without what it would only recommend.
 * @param {string} root
 * @param {readonly string[]} debs
 */
async function aptInstall(root, debs) {
  for (const deb of debs) cpSync(deb, join(root, 'root', basename(deb)));
  const files = debs.map((deb) => `/root/${basename(deb)}`);
  const options = ['--yes', '--no-install-recommends', '-o', 'APT::Sandbox::User=root'];
  return within(root, ['apt-get', 'install', ...options, ...files]);
}

/** The commands that somebody types, counted. */
const typed = { count: 0, since: 0 };

/** @template Value @param {Promise<Value>} command */
function count(command) {
  typed.count += 1;
  return command;
}

/** @type {{ caller: Caller, started: Started[], provider: string } | null} */
let gateway = null;

/** @param {string} root @param {readonly string[]} debs */
export async function installAndChat(root, debs) {
  typed.since = performance.now();
  await count(aptInstall(root, debs));
  const key = await firstGateway(root);
  const { caller } = serving();
  await modelsOf(caller);
  const text = await count(chat(caller));
  const seconds = ((performance.now() - typed.since) / 1000).toFixed(1);
  await stream(caller);
  await job(caller);
  const told = `first chat after ${typed.count} commands, ${seconds} s`;
  return `${told}: "${text.slice(0, 40)}"; stream, job; key ${key.slice(0, 6)}…`;
}

/** @param {string} root */
async function firstGateway(root) {
  const coordinator = await count(startCoordinator(root));
  const create = ['gateway-coordinator', 'user', 'create', '--admin', '--email', OWNER];
  await count(
    within(root, [...create, '--name', 'you', '--password-file', '-'], 'correct horse 1'),
  );
  const forOwner = ['--user', OWNER, '--name', 'packages'];
  const key = await count(within(root, ['gateway-coordinator', 'key', 'create', ...forOwner]));
  const token = ['gateway-coordinator', 'token', 'create', '--owner', OWNER];
  const join = await count(within(root, token));
  const enroll = ['gateway-agent', 'enroll', '--url', coordinator.ready, '--name', 'demo-pc'];
  await count(within(root, as('gateway-agent', [...enroll, '--token-file', '-']), join));
  const agent = await count(startAgent(root));
  gateway = {
    caller: { url: coordinator.ready, key },
    started: [coordinator, agent],
    provider: agent.ready,
  };
  return key;
}

function serving() {
  if (gateway === null) throw new Error('the step before has failed');
  return gateway;
}

/** @param {string} root */
function startCoordinator(root) {
  const command = [...execStart(root, 'gateway-coordinator'), '--port', PORT];
  return start(inside(root, as('gateway', command)), /listening on (http:\/\/\S+)/);
}

/** @param {string} root */
function startAgent(root) {
  const command = [...execStart(root, 'gateway-agent'), '--demo'];
  return start(inside(root, as('gateway-agent', command)), /online as (\S+)/);
}

/** Modes and owners as a package promises them. @param {string} root */
export async function checkModes(root) {
  const paths = [`${DATA}/coordinator`, `${DATA}/agent`, '/etc/inference-gateway/coordinator.env'];
  const told = await within(root, ['stat', '--format', '%n %U %a', ...paths]);
  const expected = [
    `${paths[0]} gateway 700`,
    `${paths[1]} gateway-agent 700`,
    `${paths[2]} root 640`,
  ];
  if (told !== expected.join('\n')) throw new Error(`not as promised:\n${told}`);
  const units = join(root, 'usr/lib/systemd/system');
  for (const name of ['gateway-coordinator', 'gateway-agent']) {
    if (!existsSync(join(units, `${name}.service`))) throw new Error(`${name} has no unit`);
    const enabled = join(root, 'etc/systemd/system/multi-user.target.wants', `${name}.service`);
    if (!existsSync(enabled) && !isLink(root, name)) throw new Error(`${name} is not enabled`);
  }
  return told.replaceAll('\n', '; ');
}

/** @param {string} root @param {string} name */
function isLink(root, name) {
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants');
  return readdirSync(wants).includes(`${name}.service`);
}

/**
 * Upgrades to a package of a higher version, after the programs were stopped as prerm does.
 * @param {string} root
 * @param {string} scratch
 */
export async function upgrade(root, scratch) {
  const { caller, started, provider } = serving();
  const out = join(scratch, 'next');
  mkdirSync(out, { recursive: true });
  const release = { version: NEXT_VERSION, releaseKey: null };
  const target = { release, staging: join(scratch, 'next-staging'), out };
  await buildAgentDeb(target);
  await buildCoordinatorDeb(target, (folder) => mkdirSync(folder));
  writeFileSync(join(root, 'etc/inference-gateway/coordinator.env'), 'GATEWAY_MAX_IMAGES=2\n');
  const stops = [];
  for (const one of started.toReversed()) stops.push(await one.stop());
  await aptInstall(
    root,
    readdirSync(out).map((name) => join(out, name)),
  );
  const version = await within(root, ['gateway-coordinator', 'version']);
  if (!version.includes(NEXT_VERSION)) throw new Error(`it is ${version} after the upgrade`);
  const again = [await startCoordinator(root), await startAgent(root)];
  gateway = { caller, started: again, provider };
  await modelsOf(caller);
  await chat(caller);
  const settings = readFileSync(join(root, 'etc/inference-gateway/coordinator.env'), 'utf8');
  if (settings !== 'GATEWAY_MAX_IMAGES=2\n') throw new Error('the settings were replaced');
  const stopped = stops.map(({ code, ms }) => `exit ${code} after ${ms} ms`).join(', ');
  return `${version}; stopped with ${stopped}; same key, same provider, changed settings kept`;
}

/** @param {string} root */
export async function removeAndPurge(root) {
  for (const one of serving().started.toReversed()) await one.stop();
  const names = ['gateway-agent', 'gateway-coordinator'];
  await within(root, ['apt-get', 'remove', '--yes', ...names]);
  if (!existsSync(join(root, DATA, 'coordinator/gateway.db')) && !hasDatabase(root)) {
    throw new Error('"remove" has removed the data');
  }
  await within(root, ['apt-get', 'purge', '--yes', ...names]);
  const found = await within(root, [
    'sh',
    '-c',
    'find / -xdev \\( -path /proc -o -path /dev -o -path /root -o -path /var/log -o -path /tmp ' +
      '-o -path /usr/local \\) ' +
      "-prune -o -name '*gateway*' -print; getent passwd gateway gateway-agent || true",
  ]);
  if (found !== '') throw new Error(`purge has left:\n${found}`);
  return 'remove kept the data; purge left no file, user or setting';
}

/** @param {string} root */
function hasDatabase(root) {
  return readdirSync(join(root, DATA, 'coordinator')).some((name) => name.endsWith('.db'));
}

/**
 * The executable in the same Debian, which has no Node, against the installed coordinator.
 * @param {string} root
 * @param {string} executable
 */
export async function tryExecutable(root, executable) {
  const { caller } = serving();
  const { url } = caller;
  cpSync(executable, join(root, 'usr/local/bin/agent-executable'));
  const node = await outcome(inside(root, ['sh', '-c', 'command -v node']));
  if (node.code === 0) throw new Error(`the chroot has ${node.stdout}`);
  const version = await within(root, ['agent-executable', 'version']);
  for (const one of serving().started.slice(1)) await one.stop();
  const token = ['gateway-coordinator', 'token', 'create', '--owner', OWNER];
  const join_ = await within(root, token);
  const config = ['--config', '/tmp/executable/config.json'];
  const enroll = ['agent-executable', 'enroll', '--url', url, '--name', 'bare', ...config];
  await within(root, [...enroll, '--token-file', '-'], join_);
  const command = inside(root, ['agent-executable', 'start', '--demo', ...config]);
  const agent = await start(command, /online as (\S+)/);
  await modelsOf(caller);
  await chat(caller);
  const bytes = await opusSpeech(caller);
  const large = await chat(caller, LARGE_TEXT).then(
    (text) => `answered with ${text.length} characters`,
    (error) => `refused: ${String(error.message).slice(0, 120)}`,
  );
  const { code, ms } = await agent.stop();
  const calls = `chat; ${bytes} bytes of Opus; 600 kB chat ${large}`;
  return `${version} without Node; ${calls}; exit ${code} in ${ms} ms`;
}
