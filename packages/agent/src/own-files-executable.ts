/**
 * `own-files.ts` in the single executable, whose files are assets within it. Threads start from
 * URLs that hold their source.
 */
import { getAsset } from 'node:sea';

export const AGENT_VERSION = getAsset('version', 'utf8');

export const RELEASE_KEY: string | null = getAsset('release-key', 'utf8') || null;

export const OWN_COMMAND: readonly [string, ...string[]] = [process.execPath];

/** `executable.ts` starts this part when it finds it as its first argument. */
export const GRAPHICS_PROGRAM = 'graphics-process';

export const CONVERSION_WORKER = sourceUrl('media/codecs/conversion-worker');
export const REQUEST_BODIES_WORKER = sourceUrl('backends/request-bodies-worker');

function sourceUrl(asset: string): URL {
  const source = Buffer.from(getAsset(asset)).toString('base64');
  return new URL(`data:text/javascript;base64,${source}`);
}
