// Installs the programs that docs/clients.md names, with the Node that they need, in a folder that
// is removed afterwards, and sends each through a turn against a real gateway: some 1.5 GB and
// some minutes, so that `npm test` does without. What follows goes to vitest: `-t Codex`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = `node-${process.platform}-${process.arch}`;
const CLIENTS = {
  '@openai/codex': '0.169.0',
  '@anthropic-ai/claude-code': '2.1.330',
  'opencode-ai': '1.18.33',
  '@qwen-code/qwen-code': '0.24.4',
  cline: '3.0.65',
  '@continuedev/cli': '1.5.47',
  llamaindex: '0.12.1',
  '@llamaindex/openai': '0.4.22',
  '@llamaindex/workflow': '1.1.24',
};

const folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
try {
  process.exitCode = install() || test();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @returns {number} The exit code of what failed, or 0. */
function install() {
  const packages = Object.entries(CLIENTS).map(([name, version]) => `${name}@${version}`);
  const args = ['--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
  const installed = run('npm', ['install', ...args, `${NODE}@24`, ...packages]);
  if (installed !== 0) return installed;
  // Their own scripts put the program of this platform in its place; newer versions of npm would
  // ask first.
  for (const name of Object.keys(CLIENTS)) {
    const at = join(folder, 'node_modules', name);
    const [program, script] = postinstallOf(at);
    if (program !== 'node' || script === undefined) continue;
    const done = run(join(nodeFolder(), 'node'), [script], { cwd: at });
    if (done !== 0) return done;
  }
  return 0;
}

/** @param {string} at */
function postinstallOf(at) {
  const manifest = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
  return String(manifest.scripts?.postinstall ?? '').split(' ');
}

function nodeFolder() {
  return join(folder, 'node_modules', NODE, 'bin');
}

function test() {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = ['--config', join(root, 'test', 'clients', 'vitest.config.ts')];
  const env = { ...process.env, CLIENTS_FOLDER: folder, CLIENTS_NODE: nodeFolder() };
  const args = [vitest, 'run', ...config, ...process.argv.slice(2)];
  return run(process.execPath, args, { cwd: root, env });
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} options
 * @returns {number} Its exit code.
 */
function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (error) console.error(`"${command}" does not start: ${error.message}.`);
  return status ?? 1;
}
