/**
 * The programs that tests start are bundled as for a release, which halves the time of a start. A
 * run begins with those that were built since the last one.
 */
import { statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleAgent, bundleCoordinator, readJson } from '../../packaging/bundle.js';
import { newest } from '../../scripts/newest.js';

export type ProgramName = 'gateway-agent' | 'gateway-coordinator';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Below the checkout, whose `better-sqlite3` they find. */
const FOLDER = join(ROOT, 'build', 'programs');

/** The program's file, for Node. */
export function programFile(name: ProgramName): string {
  return join(FOLDER, name, 'bin', `${name}.js`);
}

/** What `run-command-lines.js` imports. */
const ENTRIES = ['cli/program'];

/** For vitest, before a run. */
export async function setup(): Promise<void> {
  await Promise.all([
    bundleIfOlder('gateway-agent', bundleAgent),
    bundleIfOlder('gateway-coordinator', async (folder, release, entries) => {
      await bundleCoordinator(folder, release, entries);
      const downloads = join(ROOT, 'packages', 'coordinator', 'downloads');
      symlinkSync(downloads, join(folder, 'downloads'));
    }),
  ]);
}

async function bundleIfOlder(name: ProgramName, bundle: typeof bundleAgent): Promise<void> {
  const own = join('packages', name.replace('gateway-', ''));
  const sources = [join(own, 'dist'), join(own, 'bin'), 'packages/shared/dist', 'packaging'];
  const places = [...sources, `${own}/package.json`, 'package-lock.json'];
  const built = Math.max(...places.map((place) => newest(join(ROOT, place))));
  const folder = join(FOLDER, name);
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > built) return;
  const { version } = readJson(join(ROOT, own, 'package.json')) as { version: string };
  const now = new Date();
  await bundle(folder, { version, releaseKey: null }, ENTRIES);
  // What was built while it was bundled is newer.
  utimesSync(folder, now, now);
}
