/** The version of a program, as its package.json has it. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { PROTOCOL_VERSION } from '../protocol/version.js';
import { print, printJson } from './print.js';

const manifest = z.object({ version: z.string() });

/** Reads it from the package.json at this URL. */
export function readPackageVersion(manifestUrl: URL): string {
  return manifest.parse(JSON.parse(readFileSync(manifestUrl, 'utf8'))).version;
}

/** What `version` prints: the version alone, or all that a bug report needs. */
export function printVersion(version: string, json: boolean): void {
  if (!json) return print(version);
  printJson({ version, protocol: PROTOCOL_VERSION, node: process.versions.node });
}
