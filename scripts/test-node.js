// Installs and tests this checkout, with its uncommitted changes, on another version of Node, in a
// copy that is removed afterwards. The version comes from npm, program and headers, so that nothing
// on this machine changes: `npm run test:node -- 24`. What follows the version goes to vitest.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { platform, arch } = process;

const [version = '', ...tests] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error(`"${version}" is no version of Node: name one, as in npm run test:node -- 24`);
  process.exit(2);
}
if (platform === 'win32') {
  console.error('test:node runs on Linux and macOS: on Windows, use WSL.');
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), `gateway-node-${version}-`));
// Tests that root runs start programs as other users, who must be able to read them.
chmodSync(scratch, 0o755);
try {
  process.exitCode = testOn(installNode(), copyOfTree());
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** @returns {string} The folder of that Node: `bin/node`, `include/node`. */
function installNode() {
  const name = `node-${platform}-${arch}`;
  const args = ['install', '--prefix', scratch, '--no-audit', '--no-fund', `${name}@${version}`];
  if (run('npm', args) !== 0) {
    console.error(`npm has no ${name}@${version} for this machine.`);
    process.exit(1);
  }
  return join(scratch, 'node_modules', name);
}

/** A clone, so that what asks git gets the same answers, and what is not committed yet. */
function copyOfTree() {
  const copy = join(scratch, 'checkout');
  git('clone', '--quiet', '--no-hardlinks', root, copy);
  const changed = git('diff', '--name-only', '--no-renames', '-z', 'HEAD');
  const untracked = git('ls-files', '--others', '--exclude-standard', '-z');
  for (const path of `${changed}${untracked}`.split('\0').filter((one) => one !== '')) {
    if (existsSync(join(root, path))) cpSync(join(root, path), join(copy, path));
    else rmSync(join(copy, path), { force: true });
  }
  return copy;
}

/**
 * @param {string} node
 * @param {string} cwd
 * @returns {number}
 */
function testOn(node, cwd) {
  const program = join(node, 'bin', 'node');
  const env = {
    ...process.env,
    PATH: `${join(node, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    // Native modules without a ready program for this version are compiled with its headers.
    npm_config_nodedir: node,
  };
  run(program, ['--version'], { cwd, env });
  const setUp = run(program, ['scripts/setup.js', '--tests', '--browser'], { cwd, env });
  return setUp || run(program, ['node_modules/vitest/vitest.mjs', 'run', ...tests], { cwd, env });
}

/** @param {string[]} args */
function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`"git ${args.join(' ')}" failed: ${stderr}`);
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
