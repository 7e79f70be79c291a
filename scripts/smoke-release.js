// Installs a release as its users do, on the system that runs this: the coordinator from its
// package, the agent by the script that the coordinator serves. Then it makes a chat.
//
//   node scripts/smoke-release.js ARTIFACTS [--print-installer FILE]
//
// For machines that are thrown away afterwards: the agent stays installed for this user. With
// --print-installer it only writes the script for Windows, as it is served, to a file.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { extract } from 'tar';
import { chat, modelsOf, stream } from './packages/calls.js';
import { run, start, stopAll } from './packages/processes.js';

const { values, positionals } = parseArgs({
  options: { 'print-installer': { type: 'string' } },
  allowPositionals: true,
});
const [artifacts] = positionals.map((one) => resolve(one));
if (artifacts === undefined) {
  console.error('Usage: node scripts/smoke-release.js ARTIFACTS [--print-installer FILE]');
  process.exit(2);
}
const isWindows = process.platform === 'win32';
const OWNER = 'you@example.com';
const scratch = mkdtempSync(join(tmpdir(), 'gateway-smoke-'));

try {
  const gateway = await startGateway(artifacts);
  if (values['print-installer'] === undefined) await installAndChat(gateway);
  else writeFileSync(values['print-installer'], await served(gateway.url, 'install.ps1'));
} finally {
  await stopAll();
}

/** @param {string} folder */
async function startGateway(folder) {
  const name = readdirSync(folder).find((one) => /^gateway-coordinator-.*\.tgz$/.test(one));
  if (name === undefined) throw new Error(`${folder} holds no package of the coordinator`);
  const home = join(scratch, 'coordinator');
  mkdirSync(home);
  await extract({ file: join(folder, name), cwd: home, strip: 1 });
  const install = 'npm install --omit=dev --no-audit --no-fund --no-package-lock';
  await run(isWindows ? ['cmd', '/c', install] : ['sh', '-c', install], { cwd: home });
  const program = [process.execPath, join(home, 'bin', 'gateway-coordinator.js')];
  const data = ['--data', join(scratch, 'data')];
  const env = { GATEWAY_DOWNLOADS_DIR: folder };
  const command = [...program, 'start', ...data, '--port', '0'];
  const { ready } = await start(command, /listening on (http:\/\/\S+)/, { env });
  return { url: ready, program, data };
}

/** @param {{ url: string, program: string[], data: string[] }} gateway */
async function installAndChat({ url, program, data }) {
  const create = ['user', 'create', '--admin', '--email', OWNER, '--name', 'you'];
  const password = { input: 'correct horse 1' };
  await run([...program, ...create, '--password-file', '-', ...data], password);
  const key = await run([...program, 'key', 'create', '--user', OWNER, '--name', 'smoke', ...data]);
  const token = await run([...program, 'token', 'create', '--owner', OWNER, ...data]);
  console.log(await install(url, token));
  const agent = isWindows
    ? [
        'cmd',
        '/c',
        join(process.env['LOCALAPPDATA'] ?? '', 'gateway-agent', 'bin', 'gateway-agent.cmd'),
      ]
    : [join(homedir(), '.local', 'bin', 'gateway-agent')];
  console.log(await run([...agent, 'version']));
  await start([...agent, 'start', '--demo'], /online as (\S+)/);
  const caller = { url, key };
  await modelsOf(caller);
  console.log(await chat(caller));
  console.log(`${await stream(caller)} events of a stream`);
}

/** @param {string} url @param {string} token */
function install(url, token) {
  const env = {
    GATEWAY_AGENT_TOKEN: token,
    GATEWAY_AGENT_NAME: 'smoke',
    GATEWAY_INSTALL: 'no-start',
  };
  if (isWindows) {
    const script = `irm ${url}/install.ps1 | iex`;
    return run(['powershell', '-NoProfile', '-Command', script], { env });
  }
  const script = `curl -fsSL ${url}/install.sh | sh -s -- --name smoke --no-start --yes`;
  return run(['sh', '-c', script], { env });
}

/** @param {string} url @param {string} name */
async function served(url, name) {
  const answer = await fetch(`${url}/${name}`);
  if (!answer.ok) throw new Error(`/${name} answered ${answer.status}`);
  return answer.text();
}
