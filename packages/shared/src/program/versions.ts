/** The version of a program, from its package.json. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { PROTOCOL_VERSION } from '../protocol/version.js';
import { print, printJson } from './print.js';
import { checking } from './check.js';
import type { Check } from './check.js';

const manifest = z.object({ version: z.string() });

/** Reads it from the package.json at this URL. */
export function readPackageVersion(manifestUrl: URL): string {
  return manifest.parse(JSON.parse(readFileSync(manifestUrl, 'utf8'))).version;
}

/** Output of `version`: only the version, or all that a bug report needs. */
export function printVersion(version: string, json: boolean): void {
  if (!json) return print(version);
  printJson({ version, protocol: PROTOCOL_VERSION, node: process.versions.node });
}

/** Package.json asks for the same; npm only warns. */
const OLDEST = [20, 19] as const;

export function checkNode(version: string): Check {
  const { pass, fail } = checking('node version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return pass(version);
  return fail(
    version,
    `Install Node ${OLDEST.join('.')} or newer, for instance with: nvm install 22`,
  );
}
