// The same commit packaged twice, in clones at different places, with another umask and time zone.
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.js';

/**
 * Clones the commit, with the packages of this checkout, and packages it.
 * @param {string} root
 * @param {string} folder
 * @param {{ umask: string, timeZone: string }} surroundings
 * @returns {Promise<string>} The folder of the artifacts.
 */
export async function packageClone(root, folder, { umask, timeZone }) {
  await run(['git', 'clone', '--quiet', '--no-hardlinks', root, folder]);
  // Hard links: nothing writes to installed packages.
  await run(['cp', '-al', join(root, 'node_modules'), join(folder, 'node_modules')]);
  const registry = join(root, 'build', 'registry');
  if (existsSync(registry)) {
    mkdirSync(join(folder, 'build'));
    cpSync(registry, join(folder, 'build', 'registry'), { recursive: true });
  }
  const script =
    `umask ${umask}` +
    ' && "$0" node_modules/typescript/bin/tsc -b packages/coordinator packages/agent' +
    ' && "$0" node_modules/vite/bin/vite.js build packages/coordinator/web --logLevel warn' +
    ' && "$0" packaging/package.js';
  await run(['sh', '-c', script, process.execPath], { cwd: folder, env: { TZ: timeZone } });
  return join(folder, 'artifacts');
}

/** @param {string} one @param {string} other */
export function compareSums(one, other) {
  const [first, second] = [one, other].map((folder) =>
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n'),
  );
  const differing = (first ?? []).filter((line) => !second?.includes(line));
  if (differing.length > 0 || first?.length !== second?.length) {
    throw new Error(`these differ:\n${differing.join('\n')}`);
  }
  return `${first?.length} artifacts, the same bytes`;
}
