import { print, printJson } from '@inference-gateway/shared/program/print';
import { PROTOCOL_VERSION } from '@inference-gateway/shared/protocol/version';
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
    .action(printVersion);
}

function printVersion({ json }: JsonOption): void {
  if (json !== true) return print(AGENT_VERSION);
  printJson({ version: AGENT_VERSION, protocol: PROTOCOL_VERSION, node: process.versions.node });
}
