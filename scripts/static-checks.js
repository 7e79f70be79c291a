// Lint, format and dead code at the same time, because one of them alone leaves a core idle. The
// output of each is printed when it ends; all run to their end, whatever fails.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** The longest first: it begins at once, whatever the machine can run. */
const SCRIPTS = ['format:check', 'lint', 'dead-code'];

/**
 * @param {string} script
 * @returns {Promise<boolean>} Whether it passed.
 */
async function passes(script) {
  const startedAt = performance.now();
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text));
  }
  /** @type {number | null} */
  const code = await new Promise((done) => child.once('close', done));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const outcome = code === 0 ? 'passed' : 'failed';
  console.log(`${output.trimEnd()}\nnpm run ${script} ${outcome} after ${seconds} s\n`);
  return code === 0;
}

const passed = await Promise.all(SCRIPTS.map(passes));
process.exitCode = passed.every(Boolean) ? 0 : 1;
