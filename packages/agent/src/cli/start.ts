/**
 * `gateway-agent start`: serves until it is stopped, or until the coordinator refuses it for good.
 */
import { LOG_FORMATS, LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import type { Command } from 'commander';
import { Option } from 'commander';
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
      '--manage-models',
      'let your dashboard load, unload and pull models (GATEWAY_AGENT_MANAGE_MODELS; default: no)',
    )
    .option(
      '--log-file <file>',
      'log to this file instead of stderr; keeps 10 MiB and one older file',
    )
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addOption(configOption())
    .addHelpText('after', example('start --demo'))
    .action(start);
}

function logLevelOption(): Option {
  const says = 'least severity that is logged (GATEWAY_AGENT_LOG_LEVEL; default info)';
  return new Option('--log-level <level>', says).choices(LOG_LEVELS);
}

function logFormatOption(): Option {
  const says =
    'JSON or readable lines (GATEWAY_AGENT_LOG_FORMAT); default: pretty on a terminal, else json';
  return new Option('--log-format <format>', says).choices(LOG_FORMATS);
}

async function start(options: StartOptions): Promise<void> {
  // Loaded on demand: every other command starts without the link, the backends and the demo.
  const { startAgent } = await import('./start-agent.js');
  await startAgent(options);
}
