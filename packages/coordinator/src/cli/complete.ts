import {
  COMPLETE_DESCRIPTION,
  SHELLS,
  complete,
} from '@inference-gateway/shared/program/completion';
import { Argument } from 'commander';
import type { Command } from 'commander';
import { example } from './options.js';

/** `commands` makes the other commands once more: the library adds one of its own to them. */
export function addComplete(program: Command, commands: () => Command): void {
  program
    .command('complete')
    .description(COMPLETE_DESCRIPTION)
    .usage('<shell>')
    .addArgument(new Argument('[shell...]', `one of ${SHELLS.join(', ')}`))
    .addHelpText('after', example('complete bash'))
    .action(() =>
      complete({
        program: program.name(),
        // As typed: commander takes out the -- that tells words from the name of a shell.
        args: process.argv.slice(process.argv.indexOf('complete') + 1),
        loadTree: async () => (await import('@bomb.sh/tab/commander')).default(commands()),
      }),
    );
}
