/** `gateway-agent logs`: the log of the agent that runs as a service. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { installedDaemon } from './daemon-setting.js';
import { configOption, countTo, example } from './options.js';
import type { ConfigOption } from './options.js';

interface LogOptions extends ConfigOption {
  readonly lines: number;
  readonly follow?: boolean;
}

const DEFAULT_LINES = 50;
const MAX_LINES = 100_000;

export function addLogs(program: Command): void {
  program
    .command('logs')
    .description('show the log of the service; an agent on a terminal logs there')
    .addOption(
      new Option('-n, --lines <count>', 'so many of the last lines')
        .argParser(countTo(MAX_LINES))
        .default(DEFAULT_LINES),
    )
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .addOption(configOption())
    .addHelpText('after', example('logs --lines 20 --follow'))
    .action(showLogs);
}

async function showLogs({ config, lines, follow }: LogOptions): Promise<void> {
  const service = await installedDaemon(config, {});
  await service.showLogs({ lines, follow: follow === true });
}
