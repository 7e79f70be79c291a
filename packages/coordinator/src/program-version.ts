import { readPackageVersion } from '@inference-gateway/shared/program/versions';

/** The version of this program. */
export function programVersion(): string {
  return readPackageVersion(new URL('../package.json', import.meta.url));
}
