import { reportChecks } from '@inference-gateway/shared/program/check';
import type { Command } from 'commander';
import { examine } from './examine.js';
import { databaseOption, dataOption, example, filesOption, jsonOption } from '../options.js';
import type { DataOption, JsonOption } from '../options.js';

interface DoctorOptions extends DataOption, JsonOption {
  readonly config?: string;
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this installation for problems; exits 9 if there are any')
    .addOption(dataOption())
    .addOption(databaseOption())
    .addOption(filesOption())
    .option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)')
    .addOption(jsonOption())
    .addHelpText('after', example('doctor --data /var/lib/gateway'))
    .action(doctor);
}

async function doctor({ json, ...flags }: DoctorOptions): Promise<void> {
  reportChecks(await examine(flags), json === true);
}
