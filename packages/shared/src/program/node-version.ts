import { checking } from './check.js';
import type { Check } from './check.js';

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
