import { printJson, printRecord } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { admin } from './client.js';
import { dataOption, example, jsonOption, requireYes, yesOption } from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface PruneOptions extends DataOption, JsonOption, YesOption {
  readonly dryRun?: boolean;
}

export function addPrune(program: Command): void {
  program
    .command('prune')
    .description('delete assets whose time is over, and files that belong to no row')
    .option('--dry-run', 'only tell what would go')
    .addOption(yesOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('prune --dry-run'))
    .action(prune);
}

async function prune(options: PruneOptions): Promise<void> {
  const isDryRun = options.dryRun === true;
  if (!isDryRun) requireYes(options, 'prune deletes files for good; --dry-run only counts them');
  const report = await admin(options, 'asset.prune', { dry_run: isDryRun });
  (options.json === true ? printJson : printRecord)(report);
}
