import { readPackageVersion } from '@inference-gateway/shared/program/versions';

export const AGENT_VERSION = readPackageVersion(new URL('../package.json', import.meta.url));
