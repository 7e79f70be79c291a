import { printRows } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
}

export function addModel(program: Command): void {
  const model = program
    .command('model')
    .description('models: who serves them, and who may use them')
    .addHelpText('after', example('model list --user anna'));
  model
    .command('list')
    .description('list all models, or what GET /v1/models lists for one member')
    .option('--user <member>', 'as this member sees them: id, e-mail address or name')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('model list --user anna --json'))
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  const models = await admin(options, 'model.list', { user: options.user ?? null });
  printRows(models, COLUMNS, options.json === true);
}

type Row = AdminResult<'model.list'>[number];

const COLUMNS = {
  model: ({ id }: Row) => id,
  type: ({ service_type }: Row) => service_type,
  owner: ({ owner }: Row) => owner,
  provider: ({ provider }: Row) => provider,
  online: ({ online }: Row) => (online ? 'yes' : 'no'),
  'shared by': ({ own, share_id }: Row) => (own === true ? 'own' : share_id),
  'max tokens': ({ max_tokens }: Row) => max_tokens,
  hours: ({ hours }: Row) => hours,
};
