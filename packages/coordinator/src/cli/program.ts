/** The command line of `gateway-coordinator`; one file per noun. `docs/cli/` documents it. */
import { Command, Argument } from 'commander';
import {
  COMPLETE_DESCRIPTION,
  SHELLS,
  complete,
} from '@inference-gateway/shared/program/completion';
import { printVersion } from '@inference-gateway/shared/program/versions';
import { addAlias } from './alias.js';
import { addAsset, addPrune } from './asset.js';
import { addAudit } from './audit.js';
import { addBackup } from './backup.js';
import { addBatch } from './batch.js';
import { addDevice } from './device.js';
import { addDoctor } from './checks/doctor.js';
import { addJob } from './job.js';
import { addKey } from './key.js';
import { addLimit } from './limit.js';
import { addMigrate } from './migrate.js';
import { addModel } from './model.js';
import { addNetwork } from './network.js';
import { addNode } from './node.js';
import { addProvider } from './provider.js';
import { addQueue } from './queue.js';
import { addRestore } from './restore.js';
import { addLogs, addService } from './daemon/daemon.js';
import { addStart } from './start.js';
import { addStats } from './stats.js';
import { addToken } from './token.js';
import { addUser } from './user.js';
import { programVersion } from '../own-files.js';
import { example, jsonOption } from './options.js';
import type { JsonOption } from './options.js';

export function createProgram(): Command {
  const program = createCommands();
  addComplete(program, createCommands);
  return program;
}

function createCommands(): Command {
  const program = new Command('gateway-coordinator')
    .description("Accepts stock OpenAI clients and relays their requests to members' GPUs.")
    // Must be set before the commands are added, because they copy it.
    .exitOverride()
    .showHelpAfterError('(--help lists commands and options)')
    .version(programVersion(), '-V, --version', 'print the version')
    .version(programVersion(), '-v', 'the same as --version')
    .addHelpText(
      'after',
      '\nFirst steps: start, user create, key create, token create; then service install.',
    );
  const parts = [
    addStart,
    addService,
    addLogs,
    addUser,
    addKey,
    addToken,
    addDevice,
    addNetwork,
    addProvider,
    addModel,
    addNode,
    addAlias,
    addLimit,
    addJob,
    addBatch,
    addQueue,
    addAudit,
    addStats,
    addAsset,
    addPrune,
    addBackup,
    addRestore,
    addMigrate,
    addDoctor,
    addVersion,
  ];
  for (const add of parts) add(program);
  return program;
}

/** `commands` creates the other commands again, because the library adds a command of its own. */
function addComplete(program: Command, commands: () => Command): void {
  program
    .command('complete')
    .description(COMPLETE_DESCRIPTION)
    .usage('<shell>')
    .addArgument(new Argument('[shell...]', `one of ${SHELLS.join(', ')}`))
    .addHelpText('after', example('complete bash'))
    .action(() =>
      complete({
        program: program.name(),
        // From `process.argv`, because commander removes the -- that separates words from the name
        // of a shell.
        args: process.argv.slice(process.argv.indexOf('complete') + 1),
        loadTree: async () => (await import('@bomb.sh/tab/commander')).default(commands()),
      }),
    );
}

function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of this program')
    .addOption(jsonOption())
    .addHelpText('after', example('version'))
    .action(({ json }: JsonOption) => {
      printVersion(programVersion(), json === true);
    });
}
