import { printVersion } from '@inference-gateway/shared/program/versions';
import type { Command } from 'commander';
import { example, jsonOption } from './options.js';
import type { JsonOption } from './options.js';
import { programVersion } from '../program-version.js';

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of this program')
    .addOption(jsonOption())
    .addHelpText('after', example('version'))
    .action(({ json }: JsonOption) => {
      printVersion(programVersion(), json === true);
    });
}
