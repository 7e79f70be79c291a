/**
 * This program's own files. Their paths are relative to this module, in the build and in the bundle
 * (`packaging/bundle.js`) alike.
 */
import { fileURLToPath } from 'node:url';
import { readPackageVersion } from '@inference-gateway/shared/program/versions';

/** The version of this program. */
export function programVersion(): string {
  return readPackageVersion(new URL('../package.json', import.meta.url));
}

/** Starts this program again; arguments follow. The second is a link if it was started by one. */
export const OWN_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  pathOf('../bin/gateway-coordinator.js'),
];

/** The dashboard, as `npm run build` makes it. */
export const WEB_FOLDER = pathOf('./web');
export const MIGRATIONS_FOLDER = pathOf('../migrations');
/** The scripts that install an agent. */
export const INSTALL_FOLDER = pathOf('../install');
/** The agent that is handed out, unless a setting names another folder. */
export const DOWNLOADS_FOLDER = pathOf('../downloads');

// For `new Worker`.
export const STORE_WORKER = new URL('./store/sqlite/worker.js', import.meta.url);
export const LARGE_BODIES_WORKER = new URL('./http/bodies/large-bodies-worker.js', import.meta.url);
export const DURATION_WORKER = new URL('./media/duration-worker.js', import.meta.url);

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
