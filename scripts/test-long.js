// Runs the tests of a folder, such as `faults` or `cluster`, with the true limits and lengths,
// which `npm test` shortens: some minutes. After `--`, the beginnings of files' names choose among
// them, and vitest gets its flags.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Thousands of links and rows beside each other: a test can take minutes on a busy machine. */
const PATIENCE_MS = 300_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

const [folder, ...chosen] = process.argv.slice(2);
const flags = chosen.filter((one) => one.startsWith('-'));
const names = chosen.filter((one) => !one.startsWith('-'));
const files = (names.length > 0 ? names : ['']).map((name) => `test/${folder}/${name}`);

const limits = ['testTimeout', 'hookTimeout'].map((name) => `--${name}=${PATIENCE_MS}`);
const command = [vitest, 'run', ...files, ...limits, ...flags];
const { status, error } = spawnSync(process.execPath, command, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, FAULTS: 'full' },
});
if (error) console.error(`vitest does not start: ${error.message}.`);
process.exitCode = status ?? 1;
