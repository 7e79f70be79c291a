/** Queues that are not our dependencies: used if the user has installed them. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The package from the folder's `node_modules`; null, with a hint how to install it, if absent. */
export async function installed(
  name: string,
  folder: string,
  say: (line: string) => void,
): Promise<unknown> {
  const require = createRequire(join(resolve(folder), 'any.js'));
  try {
    return await import(pathToFileURL(require.resolve(name)).href);
  } catch (error) {
    const { code } = error as Error & { code?: string };
    say(`left out: ${name} cannot be loaded from ${resolve(folder)} (${code ?? String(error)})`);
    return null;
  }
}
