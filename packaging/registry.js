// Packages of the npm registry that are parts of what is shipped, for other platforms and versions
// of Node than those of this checkout.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { extract } from 'tar';
import { ROOT } from './bundle.js';

/**
 * `integrity` is the digest as lock files have it.
 * @typedef {{ name: string, version: string, integrity: string }} RegistryPackage
 */

/**
 * Fetches a package once, and checks it each time.
 * @param {RegistryPackage} wanted
 * @param {readonly string[]} paths Its files and folders to extract.
 * @returns {Promise<string>} The folder that holds them.
 * @throws When it has another digest than expected.
 */
export async function extractPackage({ name, version, integrity }, paths) {
  const folder = join(ROOT, 'build', 'registry');
  const tarball = join(folder, `${name}-${version}.tgz`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(tarball)) {
    const args = ['pack', '--silent', `${name}@${version}`];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const digest = createHash('sha512').update(readFileSync(tarball)).digest('base64');
  if (`sha512-${digest}` !== integrity) {
    rmSync(tarball);
    throw new Error(
      `${name}@${version} has the digest sha512-${digest}: ${integrity} is expected.`,
    );
  }
  const extracted = join(folder, `${name}-${version}`);
  if (paths.every((path) => existsSync(join(extracted, path)))) return extracted;
  const partial = join(folder, `${name}.partial`);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial);
  const filter = (/** @type {string} */ one) =>
    paths.some((path) => `${one}/`.startsWith(`package/${path}/`));
  await extract({ file: tarball, cwd: partial, strip: 1, filter });
  rmSync(extracted, { recursive: true, force: true });
  renameSync(partial, extracted);
  return extracted;
}
