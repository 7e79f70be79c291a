/** The command line of `gateway-agent`; one file per command or noun. `docs/cli/` documents it. */
import { Command, Argument } from 'commander';
import {
  COMPLETE_DESCRIPTION,
  SHELLS,
  complete,
} from '@inference-gateway/shared/program/completion';
import { addDaemon, addLogs } from './daemon.js';
import { addDoctor } from './doctor.js';
import { addEnroll, addLogin } from './enroll.js';
import { addJobs } from './jobs.js';
import { addDrain, addPause, addResume } from './pause.js';
import { addServices } from './services.js';
import { addStart } from './start.js';
import { addStatus } from './status.js';
import { addTest } from './test-model.js';
import { addUpgrade } from './upgrade.js';
import { addVersion } from './version.js';
import { AGENT_VERSION } from '../own-files.js';
import { addWait } from './wait.js';
import { example } from './options.js';

export function createProgram(): Command {
  const program = createCommands();
  addComplete(program, createCommands);
  return program;
}

function createCommands(): Command {
  const program = new Command('gateway-agent')
    .description('Serves the model servers of this machine through a coordinator.')
    // Before the commands are added: they inherit it when they are created.
    .exitOverride()
    .showHelpAfterError('(--help lists commands and options)')
    .version(AGENT_VERSION, '-V, --version', 'print the version')
    .version(AGENT_VERSION, '-v', 'the same as --version')
    .addHelpText(
      'after',
      '\nFirst steps: enroll or login, start --yes, status; then service install.',
    );
  for (const add of COMMANDS) add(program);
  return program;
}

const COMMANDS = [
  addEnroll,
  addLogin,
  addStart,
  addStatus,
  addPause,
  addResume,
  addDrain,
  addJobs,
  addWait,
  addServices,
  addTest,
  addDoctor,
  addDaemon,
  addLogs,
  addVersion,
  addUpgrade,
];

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
        // Unparsed: commander removes the `--` that separates words from the name of a shell.
        args: process.argv.slice(process.argv.indexOf('complete') + 1),
        loadTree: async () => (await import('@bomb.sh/tab/commander')).default(commands()),
      }),
    );
}
