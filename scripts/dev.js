// Rebuilds on change, and restarts a coordinator and a demo agent after each build. Their data
// stays in data/dev, so that the key and the password of the first start keep working.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpMember, startCoordinator, startDemoAgent } from './demo-gateway.js';
import { stopPrograms } from './program.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'data', 'dev');
const memberFile = join(folder, 'member.json');
const PORT = 7070;
/** A build writes many files: what comes within this time of the last one is one change. */
const SETTLE_MS = 400;

/** @type {NodeJS.Timeout | undefined} */
let settling;
// Restarts run one after the other: each waits for the one before.
let restarted = Promise.resolve();

mkdirSync(folder, { recursive: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
const web = join(root, 'packages', 'coordinator', 'web');
const compilers = [
  [tsc, '-b', '--watch', '--preserveWatchOutput'],
  [vite, 'build', web, '--watch', '--logLevel', 'warn'],
].map((args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }));
for (const name of ['shared', 'coordinator', 'agent']) {
  watch(join(root, 'packages', name, 'dist'), { recursive: true }, restartSoon);
}
restartSoon();
process.once('SIGINT', () => void shutDown());
process.once('SIGTERM', () => void shutDown());

function restartSoon() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    restarted = restarted.then(restart);
  }, SETTLE_MS);
}

async function restart() {
  await stopPrograms();
  try {
    const { ready: url } = await startCoordinator(folder, PORT);
    if (!existsSync(memberFile)) {
      const member = await setUpMember(folder, url);
      writeFileSync(memberFile, JSON.stringify(member), { mode: 0o600 });
    }
    await startDemoAgent(folder);
    /** @type {import('./demo-gateway.js').Member} */
    const { email, password, key } = JSON.parse(readFileSync(memberFile, 'utf8'));
    console.log(`dev: ${url} for ${email} with ${password}, ${url}/v1 with the key ${key}`);
  } catch (error) {
    console.error(`dev: ${error instanceof Error ? error.message : String(error)}`);
    console.error('dev: waiting for the next change.');
  }
}

async function shutDown() {
  clearTimeout(settling);
  for (const compiler of compilers) compiler.kill();
  await restarted;
  await stopPrograms();
  process.exit(0);
}
