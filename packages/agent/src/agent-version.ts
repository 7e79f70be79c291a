import { readPackageVersion } from '@inference-gateway/shared/program/versions';

/** The version of this program. */
export const AGENT_VERSION = readPackageVersion(new URL('../package.json', import.meta.url));
