/** The command line of `gateway-agent`; one file a command or noun. `docs/cli.md` documents it. */
import { Command } from 'commander';
import { addComplete } from './complete.js';
import { addDaemon } from './daemon.js';
import { addDoctor } from './doctor.js';
import { addEnroll } from './enroll.js';
import { addJobs } from './jobs.js';
import { addLogin } from './login.js';
import { addLogs } from './logs.js';
import { addDrain, addPause, addResume } from './pause.js';
import { addServices } from './services.js';
import { addStart } from './start.js';
import { addStatus } from './status.js';
import { addTest } from './test-model.js';
import { addVersion } from './version.js';
import { AGENT_VERSION } from '../agent-version.js';
import { addWait } from './wait.js';

export function createProgram(): Command {
  const program = createCommands();
  addComplete(program, createCommands);
  return program;
}

function createCommands(): Command {
  const program = new Command('gateway-agent')
    .description('Serves the model servers of this machine through a coordinator.')
    // Before the commands are added: they take it over as they are made.
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .version(AGENT_VERSION, '-V, --version', 'print the version')
    .version(AGENT_VERSION, '-v', 'the same')
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
];
