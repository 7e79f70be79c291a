/** The command line of `gateway-coordinator`; one file a noun. `docs/cli.md` documents it. */
import { Command } from 'commander';
import { addAsset } from './asset.js';
import { addAudit } from './audit.js';
import { addBackup } from './backup.js';
import { addBatch } from './batch.js';
import { addComplete } from './complete.js';
import { addDevice } from './device.js';
import { addDoctor } from './doctor.js';
import { addJob } from './job.js';
import { addKey } from './key.js';
import { addLimit } from './limit.js';
import { addMigrate } from './migrate.js';
import { addModel } from './model.js';
import { addNetwork } from './network.js';
import { addProvider } from './provider.js';
import { addPrune } from './prune.js';
import { addQueue } from './queue.js';
import { addRestore } from './restore.js';
import { addStart } from './start.js';
import { addStats } from './stats.js';
import { addToken } from './token.js';
import { addUser } from './user.js';
import { addVersion } from './version.js';
import { programVersion } from '../program-version.js';

export function createProgram(): Command {
  const program = createCommands();
  addComplete(program, createCommands);
  return program;
}

function createCommands(): Command {
  const program = new Command('gateway-coordinator')
    .description("Accepts stock OpenAI clients and relays their requests to members' GPUs.")
    // Before the commands are added: they take it over as they are made.
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .version(programVersion(), '-V, --version', 'print the version')
    .version(programVersion(), '-v', 'the same')
    .addHelpText('after', '\nFirst steps: start, user create, key create, token create.');
  const parts = [
    addStart,
    addUser,
    addKey,
    addToken,
    addDevice,
    addNetwork,
    addProvider,
    addModel,
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
