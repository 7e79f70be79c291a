import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printRows } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { examine } from './checks/examine.js';
import type { Check } from './checks/check.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface DoctorOptions extends DataOption, JsonOption {
  readonly config?: string;
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look for what is wrong with this installation; exits 9 where something is')
    .addOption(dataOption())
    .option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)')
    .addOption(jsonOption())
    .addHelpText('after', example('doctor --data /var/lib/gateway'))
    .action(doctor);
}

async function doctor({ json, ...flags }: DoctorOptions): Promise<void> {
  const checks = await examine(flags);
  printRows(checks, COLUMNS, json === true);
  const failed = checks.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return;
  const names = failed.map(({ name }) => name).join(', ');
  throw new CommandError(
    EXIT.checkFailed,
    `${failed.length} of ${checks.length} failed: ${names}.`,
  );
}

const COLUMNS = {
  status: ({ status }: Check) => status,
  check: ({ name }: Check) => name,
  found: ({ found }: Check) => found,
  advice: ({ advice }: Check) => advice,
};
