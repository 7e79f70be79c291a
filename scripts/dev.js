// Rebuilds on change, restarts a coordinator and a demo agent after each build, and serves the
// dashboard from its sources, so that an open page reloads by itself. What all of them say comes
// in this terminal. Their data stays in data/dev, so that the key and the password of the first
// start keep working.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import { setUpMember, startCoordinator, startDemoAgent } from './demo-gateway.js';
import { stopPrograms } from './program.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'data', 'dev');
const memberFile = join(folder, 'member.json');
const PORT = 7070;
const PAGE_PORT = 7071;
/** A build writes many files: what comes within this time of the last one is one change. */
const SETTLE_MS = 400;

/** @type {NodeJS.Timeout | undefined} */
let settling;
// Restarts run one after the other: each waits for the one before.
let restarted = Promise.resolve();

mkdirSync(folder, { recursive: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const compiler = spawn(process.execPath, [tsc, '-b', '--watch', '--preserveWatchOutput'], {
  cwd: root,
  stdio: 'inherit',
});
const page = await servePage();
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
    const { ready: url } = await startCoordinator(folder, PORT, show);
    if (!existsSync(memberFile)) {
      const member = await setUpMember(folder, url);
      writeFileSync(memberFile, JSON.stringify(member), { mode: 0o600 });
    }
    await startDemoAgent(folder, show);
    /** @type {import('./demo-gateway.js').Member} */
    const { email, password, key } = JSON.parse(readFileSync(memberFile, 'utf8'));
    console.log(`dev: log in at ${page.url} as ${email} with ${password}`);
    console.log(`dev: call ${url}/v1 with the key ${key}`);
  } catch (error) {
    console.error(`dev: ${error instanceof Error ? error.message : String(error)}`);
    console.error('dev: waiting for the next change.');
  }
}

/** The dashboard from its sources; what it asks goes to the coordinator. */
async function servePage() {
  const web = join(root, 'packages', 'coordinator', 'web');
  const target = `http://127.0.0.1:${PORT}`;
  const server = await createServer({
    configFile: join(web, 'vite.config.js'),
    logLevel: 'info',
    clearScreen: false,
    server: {
      host: '127.0.0.1',
      port: PAGE_PORT,
      strictPort: true,
      proxy: { '/api': { target, ws: true }, '/v1': { target } },
    },
  });
  await server.listen();
  return { server, url: `http://127.0.0.1:${PAGE_PORT}` };
}

/**
 * Shows one line of a program's log, which is JSON off a terminal.
 * @param {string} name
 * @param {string} line
 */
function show(name, line) {
  console.log(`${name.padEnd('coordinator'.length)} | ${readable(line)}`);
}

/** @param {string} line */
function readable(line) {
  if (!line.startsWith('{"level":')) return line;
  const { level, time, msg, ...rest } = JSON.parse(line);
  const severity = level >= 50 ? 'ERROR ' : level >= 40 ? 'WARN ' : '';
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return [`${String(time).slice(11, 19)} ${severity}${msg}`, ...details].join(' ');
}

async function shutDown() {
  clearTimeout(settling);
  compiler.kill();
  await page.server.close();
  await restarted;
  await stopPrograms();
  process.exit(0);
}
