import { checking } from './check.js';
import type { Check } from './check.js';

/** Package.json asks for the same; npm only warns. */
const OLDEST = [20, 19] as const;

export function checkNode(version: string): Check {
  const { ok, failed } = checking('node version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return isOld ? failed(version, `Install Node ${OLDEST.join('.')} or newer.`) : ok(version);
}
