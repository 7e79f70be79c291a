// A program's folder with all that it needs to run from there: what npm would install beside the
// bundle, and the way by which it came onto the machine. The container images call this file:
//
//   node packaging/tree.js FOLDER container
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, readJson } from './bundle.js';

/** The only package with native code. Its builds for other systems are most of its size. */
const NATIVE = 'better-sqlite3';
const NATIVE_FILES = ['package.json', 'LICENSE', 'lib'];

/**
 * Completes the folder of a bundle. `installedBy` becomes the content of a file of that name, by
 * which the program knows who updates it; `platform` is as in `linux-x64`.
 * @param {string} folder
 * @param {{ installedBy: 'deb' | 'container', platform: string }} target
 */
export function completeTree(folder, { installedBy, platform }) {
  writeFileSync(join(folder, 'installed-by'), `${installedBy}\n`);
  const { dependencies = {} } = readJson(join(folder, 'package.json'));
  if (NATIVE in dependencies) addNative(join(folder, 'node_modules', NATIVE), platform);
}

/**
 * @param {string} folder
 * @param {string} platform
 */
function addNative(folder, platform) {
  const source = join(ROOT, 'node_modules', NATIVE);
  for (const name of NATIVE_FILES) {
    cpSync(join(source, name), join(folder, name), { recursive: true });
  }
  const build = join('prebuilds', `${platform}.node`);
  mkdirSync(join(folder, 'prebuilds'));
  cpSync(join(source, build), join(folder, build));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder, installedBy] = process.argv.slice(2);
  if (folder === undefined || installedBy !== 'container') {
    console.error('Usage: node packaging/tree.js FOLDER container');
    process.exit(2);
  }
  completeTree(folder, { installedBy, platform: `linux-${process.arch}` });
}
