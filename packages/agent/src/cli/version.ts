import { printVersion } from '@inference-gateway/shared/program/package-version';
import type { Command } from 'commander';
import { AGENT_VERSION } from '../agent-version.js';
import { example, jsonOption } from './options.js';
import type { JsonOption } from './options.js';

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of this program')
    .addOption(jsonOption())
    .addHelpText('after', example('version'))
    .action(({ json }: JsonOption) => printVersion(AGENT_VERSION, json === true));
}
