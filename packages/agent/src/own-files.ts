/**
 * This program's own files. Their paths are relative to this module, in the build and in the bundle
 * (`packaging/bundle.js`) alike. The single executable, which has no files, is built with
 * `own-files-executable.ts` instead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPackageVersion } from '@inference-gateway/shared/program/versions';

export const AGENT_VERSION = readPackageVersion(new URL('../package.json', import.meta.url));

/** The public key, in PEM, with which releases of this program are signed; null if unsigned. */
export const RELEASE_KEY = readKey(new URL('../release-key.pem', import.meta.url));

/** Starts this program again; arguments follow. The second is a link if it was started by one. */
export const OWN_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  fileURLToPath(new URL('../bin/gateway-agent.js', import.meta.url)),
];

/** For `fork`. */
export const GRAPHICS_PROGRAM = fileURLToPath(
  new URL('./hardware/graphics-process.js', import.meta.url),
);

// For `new Worker`.
export const CONVERSION_WORKER = new URL('./media/codecs/conversion-worker.js', import.meta.url);
export const REQUEST_BODIES_WORKER = new URL(
  './backends/request-bodies-worker.js',
  import.meta.url,
);

function readKey(file: URL): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
