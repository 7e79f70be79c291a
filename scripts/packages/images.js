// The container images, built and run without a registry and without a daemon: buildah builds them
// on a base made here, and runc starts them as compose.yaml says: read-only, without capabilities.
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LINUX_X64, runtimeOf } from '../../packaging/executable.js';
import { chat, health, modelsOf } from './calls.js';
import { outcome, requireProgram, run, start, until } from './processes.js';

const UID = 10_001;
const PORT = 17_272;
const URL_ = `http://127.0.0.1:${PORT}`;
/** What compose.yaml grants. */
const DRAIN_MS = 45_000;

/**
 * @param {{ root: string, scratch: string, debian: string }} places The repository, a folder for
 *   everything else, and a Debian as a folder.
 */
export async function buildImages({ root, scratch, debian }) {
  requireProgram('buildah', 'apt-get install buildah');
  requireProgram('runc', 'apt-get install runc');
  const base = join(scratch, 'base');
  mkdirSync(scratch, { recursive: true });
  await run(['cp', '--archive', debian, base]);
  rmSync(join(base, 'dev'), { recursive: true });
  mkdirSync(join(base, 'dev'));
  await addNode(base);
  const container = (await buildah(scratch, ['from', 'scratch'])).trim();
  await buildah(scratch, ['copy', '--quiet', container, base, '/']);
  const settings = Object.entries(certificates()).map(([name, value]) => `--env=${name}=${value}`);
  if (settings.length > 0) await buildah(scratch, ['config', ...settings, container]);
  await buildah(scratch, ['commit', '--quiet', container, 'localhost/base']);
  for (const target of ['coordinator', 'agent']) {
    const options = ['--isolation=chroot', '--network=host', '--format=docker', '--layers'];
    const names = ['--target', target, '--tag', `localhost/gateway-${target}`];
    const file = ['--file', join(root, 'packaging/container/Dockerfile')];
    const args = ['build', ...options, '--build-arg=BASE=localhost/base', ...names, ...file, root];
    await buildah(scratch, args);
  }
  return buildah(scratch, ['images', '--format', '{{.Name}} {{.Size}}']);
}

/** @param {string} base */
async function addNode(base) {
  cpSync(await runtimeOf(LINUX_X64), join(base, 'usr/local/bin/node'));
  const npm = join(await run(['npm', 'root', '--global']), 'npm');
  cpSync(npm, join(base, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(base, 'usr/local/bin', name));
  }
  const { NODE_EXTRA_CA_CERTS: own } = process.env;
  if (own !== undefined)
    cpSync(own, join(base, 'etc/ssl/own-authority.pem'), { dereference: true });
}

/** This machine may reach the npm registry through an authority of its own. */
function certificates() {
  const isNeeded = process.env['NODE_EXTRA_CA_CERTS'] !== undefined;
  /** @type {Record<string, string>} */
  const none = {};
  return isNeeded ? { NODE_EXTRA_CA_CERTS: '/etc/ssl/own-authority.pem' } : none;
}

/** Ends the mounts, which would keep the folder. @param {string} scratch */
export async function removeImages(scratch) {
  const storage = join(scratch, 'storage');
  if (!existsSync(storage)) return;
  await outcome(['runc', 'delete', '--force', 'gateway-test-agent']);
  await outcome(['runc', 'delete', '--force', 'gateway-test-coordinator']);
  await buildah(scratch, ['rm', '--all']);
  await outcome(['umount', join(storage, 'overlay')]);
}

/** Without overlays each step copies the whole image: 20 GB, and many minutes. */
function storageDriver() {
  const isKnown = readFileSync('/proc/filesystems', 'utf8').includes('\toverlay\n');
  return isKnown ? 'overlay' : 'vfs';
}

/** @param {string} scratch @param {readonly string[]} args */
function buildah(scratch, args) {
  const places = ['--root', join(scratch, 'storage'), '--runroot', join(scratch, 'run')];
  return run(['buildah', '--storage-driver', storageDriver(), ...places, ...args]);
}

/**
 * Starts both images on volumes, makes a chat through them, and stops them.
 * @param {string} scratch
 */
export async function runImages(scratch) {
  const coordinator = await bundleOf(scratch, 'coordinator', { GATEWAY_PORT: String(PORT) });
  const agent = await bundleOf(scratch, 'agent', {});
  await start(coordinator.command(['start']), /listening on (\S+)/);
  const owner = ['--email', 'you@example.com', '--name', 'you', '--password-file', '-'];
  const exec = ['runc', 'exec', coordinator.id];
  const own = [...exec, 'gateway-coordinator'];
  await run([...own, 'user', 'create', '--admin', ...owner], { input: 'correct horse 1' });
  const forOwner = ['--user', 'you@example.com', '--name', 'image'];
  const key = await run([...own, 'key', 'create', ...forOwner]);
  const token = await run([...own, 'token', 'create', '--owner', 'you@example.com']);
  const join_ = ['enroll', '--url', URL_, '--name', 'image-pc', '--token-file', '-'];
  await run(agent.command(join_), { input: token });
  await start(agent.command(['start', '--demo']), /online as (\S+)/);
  const caller = { url: URL_, key };
  await modelsOf(caller);
  const text = await chat(caller);
  const checks = [];
  for (const one of [coordinator, agent]) {
    const { code } = await outcome(['runc', 'exec', one.id, ...one.healthcheck]);
    if (code !== 0) throw new Error(`the health check of ${one.id} exits ${code}`);
    const write = await outcome(['runc', 'exec', one.id, 'sh', '-c', 'echo x > /app/x']);
    if (write.code === 0) throw new Error(`${one.id} can write to /app`);
    checks.push(await run(['runc', 'exec', one.id, 'sh', '-c', 'id -u; cat /app/installed-by']));
  }
  const stopped = [];
  for (const one of [agent, coordinator]) stopped.push(await stop(one.id));
  if ((await health(URL_).catch(() => 0)) !== 0) throw new Error('the coordinator still answers');
  const who = checks.join(' ').replaceAll('\n', ' ');
  const ends = `stopped in ${stopped.join(', ')} ms`;
  return `"${text.slice(0, 40)}"; healthy; uid and origin ${who}; ${ends}`;
}

/** @param {string} id */
async function stop(id) {
  const begin = performance.now();
  await run(['runc', 'kill', id, 'TERM']);
  await until(`the end of ${id}`, async () => {
    const { code, stdout } = await outcome(['runc', 'state', id]);
    return code !== 0 || stdout.includes('"stopped"') ? true : null;
  });
  const ms = Math.round(performance.now() - begin);
  if (ms > DRAIN_MS) throw new Error(`${id} took ${ms} ms to stop`);
  return ms;
}

/**
 * A folder from which runc starts the image.
 * @param {string} scratch
 * @param {'coordinator' | 'agent'} target
 * @param {Record<string, string>} variables
 */
async function bundleOf(scratch, target, variables) {
  const id = `gateway-test-${target}`;
  const container = (await buildah(scratch, ['from', `localhost/gateway-${target}`])).trim();
  const root = await buildah(scratch, ['mount', container]);
  const inspected = await buildah(scratch, [
    'inspect',
    '--type',
    'image',
    `localhost/gateway-${target}`,
  ]);
  const { config } = JSON.parse(inspected).Docker;
  const folder = join(scratch, id);
  const data = join(scratch, `${id}-data`);
  mkdirSync(folder);
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, UID, UID);
  await run(['runc', 'spec'], { cwd: folder });
  const env = [
    ...config.Env,
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ];
  /** @param {readonly string[]} args */
  const command = (args) => {
    const spec = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    spec.root = { path: root, readonly: true };
    Object.assign(spec.process, {
      terminal: false,
      user: { uid: UID, gid: UID },
      args: [...config.Entrypoint, ...args],
      cwd: config.WorkingDir || '/',
      env,
      capabilities: {},
      noNewPrivileges: true,
    });
    // The host's network: the test calls the coordinator, and the agent its coordinator.
    spec.linux.namespaces = spec.linux.namespaces.filter(
      (/** @type {{ type: string }} */ { type }) => type !== 'network' && type !== 'cgroup',
    );
    spec.mounts = [
      ...spec.mounts.filter(
        (/** @type {{ destination: string }} */ { destination }) =>
          !['/sys', '/sys/fs/cgroup', '/data', '/tmp'].includes(destination),
      ),
      { destination: '/data', type: 'bind', source: data, options: ['bind', 'rw'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] },
    ];
    writeFileSync(join(folder, 'config.json'), JSON.stringify(spec));
    return ['runc', 'run', '--bundle', folder, id];
  };
  const [, ...healthcheck] = config.Healthcheck.Test;
  return { id, command, healthcheck };
}
