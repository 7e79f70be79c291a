import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { compareVersions } from '@inference-gateway/shared/compare-versions';
import { printVersion } from '@inference-gateway/shared/program/versions';
import { printJson, printRows } from '@inference-gateway/shared/program/print';
import { PROTOCOL_VERSION, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import type { Command } from 'commander';
import { AGENT_VERSION } from '../own-files.js';
import { loadConfig } from '../config/config.js';
import { askOwnProvider } from '../coordinator-api/own-provider.js';
import type { OwnProvider } from '../coordinator-api/own-provider.js';
import { findInstallation } from '../installation/installation.js';
import { requireEnrolled } from './ask-running.js';
import { configOption, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';

interface VersionOptions extends ConfigOption, JsonOption {
  readonly check?: boolean;
}

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of this program')
    .option('--check', "compare it with the coordinator's; exits 9 if this one must be updated")
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('version --check'))
    .action(showVersion);
}

async function showVersion({ check, json, config }: VersionOptions): Promise<void> {
  if (check !== true) return printVersion(AGENT_VERSION, json === true);
  const coordinator = requireEnrolled(await loadConfig(enterConfig(config)));
  const { version, protocols } = await askOwnProvider(coordinator);
  const fault = versionFault(AGENT_VERSION, { version, protocols });
  if (json === true) {
    printJson({
      version: AGENT_VERSION,
      protocol: PROTOCOL_VERSION,
      node: process.versions.node,
      coordinator: { url: coordinator.url, version, protocols },
      fits: fault === null,
    });
  } else printRows([{ agent: AGENT_VERSION, coordinator: version }], COLUMNS, false);
  if (fault !== null) throw new CommandError(EXIT.checkFailed, fault);
}

interface Versions {
  readonly agent: string;
  readonly coordinator: string;
}

const COLUMNS = {
  agent: ({ agent }: Versions) => agent,
  coordinator: ({ coordinator }: Versions) => coordinator,
};

/** Why this agent does not fit its coordinator, and how to update it; null if it fits. */
export function versionFault(
  agent: string,
  { version, protocols }: Pick<OwnProvider, 'version' | 'protocols'>,
): string | null {
  if (!protocols.includes(SUBPROTOCOL)) {
    const spoken = protocols.join(', ');
    return (
      `this agent (${agent}) speaks ${SUBPROTOCOL}, the coordinator (${version}) only ${spoken}: ` +
      howToUpdate()
    );
  }
  if (compareVersions(numbersOf(agent), numbersOf(version)) >= 0) return null;
  return `this agent (${agent}) is older than its coordinator (${version}): ${howToUpdate()}`;
}

function howToUpdate(): string {
  return findInstallation() === null
    ? 'update it with "git pull && npm ci && npm run build" where it is installed, and restart it.'
    : 'run "gateway-agent upgrade".';
}

/** Without the suffix, which orders builds, not releases. */
function numbersOf(version: string): string {
  return version.replace(/-.*/, '');
}
