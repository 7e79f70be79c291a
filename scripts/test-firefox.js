// Runs the tests of what people do most at the dashboard in Firefox instead of Chromium: minutes,
// so that `npm test` does without. After `--`, the beginnings of files' names in test/web choose
// among them, and vitest gets its flags.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFirefox } from './browsers.js';

const FILES = [
  'browser',
  'first-day',
  'home',
  'jobs',
  'library',
  'log-in',
  'models',
  'playground-chat',
  'playground-chat-kept',
  'playground-media',
  'providers',
  'queue',
  'reach',
  'settings',
  'shell',
  'token',
  'usage',
];

/** Its start alone can take a minute on a busy machine. */
const PATIENCE_MS = 180_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

if (findFirefox() === null) {
  console.error(
    'There is no Firefox on the PATH. Install it ("apt-get install firefox-esr" on Debian), ' +
      'or name another with GATEWAY_TEST_FIREFOX=/path.',
  );
  process.exit(1);
}
const args = process.argv.slice(2);
const flags = args.filter((one) => one.startsWith('-'));
const names = args.filter((one) => !one.startsWith('-'));
const chosen = names.length > 0 ? names : FILES.map((name) => `${name}.test`);
const files = chosen.map((name) => `test/web/${name}`);

const limits = ['testTimeout', 'hookTimeout'].map((name) => `--${name}=${PATIENCE_MS}`);
const command = [vitest, 'run', ...files, ...limits, ...flags];
const { status, error } = spawnSync(process.execPath, command, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, GATEWAY_TEST_BROWSER: 'firefox' },
});
if (error) console.error(`vitest does not start: ${error.message}.`);
process.exitCode = status ?? 1;
