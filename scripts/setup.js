// Installs and builds what is missing, so that README's two commands work in a fresh clone.
// Uses nothing but Node itself: it runs before there is a node_modules folder.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installed = join(root, 'node_modules', '.package-lock.json');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: install Node 20.19 or newer.`);
  process.exit(2);
}

if (!existsSync(installed) || isOlder(installed, join(root, 'package-lock.json'))) {
  run('npm', ['ci', '--no-audit', '--no-fund']);
}
run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b']);

/**
 * @param {string} file
 * @param {string} reference
 */
function isOlder(file, reference) {
  return statSync(file).mtimeMs < statSync(reference).mtimeMs;
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const options = { cwd: root, stdio: /** @type {const} */ ('inherit') };
  const { status, error } = spawnSync(command, args, {
    ...options,
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  console.error(`"${command} ${args.join(' ')}" failed${error ? `: ${error.message}` : ''}.`);
  process.exit(1);
}
