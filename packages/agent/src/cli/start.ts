/**
 * `gateway-agent start`: serves until it is stopped, or until the coordinator refuses it for good.
 */
import type { Command } from 'commander';
import { configOption, example, statusPortOption } from './options.js';
import type { StartOptions } from './start-agent.js';

export function addStart(program: Command): void {
  program
    .command('start')
    .description('connect to the coordinator and serve; prints one line when registered')
    .option('--once', 'exit when the link ends, instead of connecting again')
    .option('--demo', 'serve built-in demo models too, which need no GPU')
    .option('--share <network>', 'share all configured services with this network')
    .option(
      '--yes',
      'ask no questions: do what --share says; without services, add what "services scan" finds',
    )
    .addOption(statusPortOption())
    .option(
      '--log-file <file>',
      'log to this file instead of stderr; keeps 10 MiB and one older file',
    )
    .addOption(configOption())
    .addHelpText('after', example('start --demo'))
    .action(start);
}

async function start(options: StartOptions): Promise<void> {
  // Loaded on demand: every other command starts without the link, the backends and the demo.
  const { startAgent } = await import('./start-agent.js');
  await startAgent(options);
}
