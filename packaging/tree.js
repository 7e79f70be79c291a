// A program's folder with all that it needs to run from there with the Node that is shipped: what
// npm would install beside the bundle, and the way by which it came onto the machine. The container
// images call this file:
//
//   node packaging/tree.js FOLDER container
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, readJson } from './bundle.js';
import { extractPackage } from './registry.js';

/**
 * The only package with native code. The checkout may have another version, which its own Node
 * needs.
 */
const NATIVE = 'better-sqlite3';

/**
 * Completes the folder of a bundle. `installedBy` becomes the content of a file of that name, by
 * which the program knows who updates it; `platform` is as in `linux-x64`.
 * @param {string} folder
 * @param {{ installedBy: 'deb' | 'container', platform: string }} target
 */
export async function completeTree(folder, { installedBy, platform }) {
  writeFileSync(join(folder, 'installed-by'), `${installedBy}\n`);
  const { optionalDependencies = {} } = readJson(join(folder, 'package.json'));
  if (NATIVE in optionalDependencies)
    await addNative(join(folder, 'node_modules', NATIVE), platform);
}

/**
 * @param {string} folder
 * @param {string} platform
 */
async function addNative(folder, platform) {
  const { version, integrity } = readJson(join(ROOT, 'package-lock.json')).packages[
    `node_modules/${NATIVE}`
  ];
  // Its builds for other systems are most of its size.
  const paths = ['package.json', 'LICENSE', 'lib', `prebuilds/${platform}.node`];
  const source = await extractPackage({ name: NATIVE, version, integrity }, paths);
  for (const path of paths) cpSync(join(source, path), join(folder, path), { recursive: true });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder, installedBy] = process.argv.slice(2);
  if (folder === undefined || installedBy !== 'container') {
    console.error('Usage: node packaging/tree.js FOLDER container');
    process.exit(2);
  }
  await completeTree(folder, { installedBy, platform: `linux-${process.arch}` });
}
