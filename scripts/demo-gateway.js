// A coordinator and a demo agent as processes of their own, for quickstart.js and dev.js.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd, startProgram } from './program.js';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages');
const COORDINATOR = join(packages, 'coordinator', 'bin', 'gateway-coordinator.js');
const AGENT = join(packages, 'agent', 'bin', 'gateway-agent.js');
const OWNER = 'you@example.com';
const PASSWORD_BYTES = 12;

/** @typedef {{ email: string, password: string, key: string }} Member Who logs in, and calls. */

/** @typedef {import('./program.js').OnLine} OnLine */

/** @param {string} folder @param {number} port 0 for a free one @param {OnLine} [onLine] */
export function startCoordinator(folder, port, onLine) {
  const args = [COORDINATOR, 'start', '--data', dataFolder(folder), '--port', String(port)];
  return startProgram({ name: 'coordinator', args, onLine }, /listening on (http:\/\/\S+)/);
}

/**
 * Creates an admin with a key, and enrolls an agent for them. The coordinator must be running.
 * @param {string} folder
 * @param {string} url
 * @returns {Promise<Member>}
 */
export async function setUpMember(folder, url) {
  const data = ['--data', dataFolder(folder)];
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const create = [COORDINATOR, 'user', 'create', '--admin', '--password-file', '-'];
  await runToEnd([...create, '--email', OWNER, '--name', 'you', ...data], password);
  const key = await runToEnd([
    COORDINATOR,
    'key',
    'create',
    '--user',
    OWNER,
    '--name',
    'quickstart',
    ...data,
  ]);
  const token = await runToEnd([COORDINATOR, 'token', 'create', '--owner', OWNER, ...data]);
  const config = ['--config', agentConfig(folder)];
  const enroll = [AGENT, 'enroll', '--url', url, '--token-file', '-', '--name', 'demo-pc'];
  await runToEnd([...enroll, ...config], token);
  return { email: OWNER, password, key };
}

/** @param {string} folder @param {OnLine} [onLine] */
export function startDemoAgent(folder, onLine) {
  const args = [AGENT, 'start', '--demo', '--config', agentConfig(folder)];
  return startProgram({ name: 'agent', args, onLine }, /online as (\S+)/);
}

/** @param {string} folder */
function dataFolder(folder) {
  const path = join(folder, 'coordinator');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

/** @param {string} folder */
function agentConfig(folder) {
  const path = join(folder, 'agent');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return join(path, 'config.json');
}
