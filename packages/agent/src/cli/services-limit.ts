/** `gateway-agent services limit`: the limits for others' use of a service, on top of shares. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { say } from '@inference-gateway/shared/program/print';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { Option } from 'commander';
import type { Command } from 'commander';
import { editConfigFile, readSoundConfig } from '../config/file.js';
import { configOption, countTo, enterConfig, example } from './options.js';
import type { ConfigOption } from './options.js';
import { serviceIndex, RESTART } from './services-add.js';
import { parseHours } from './services-share.js';

interface LimitOptions extends ConfigOption {
  /** `auto`: the number that the server reports. */
  readonly slots?: number | 'auto';
  /** `always`: at any time. */
  readonly hours?: string;
  readonly foreign?: 'yes' | 'no';
}

export function addServicesLimit(services: Command): void {
  services
    .command('limit')
    .description('change how much, when and by whom a service is used')
    .argument('<service>', 'as "services list" shows it')
    .option('--slots <n|auto>', 'requests at once; auto: what the server reports', slotsOrAuto)
    .option('--hours <from-until|always>', 'when others may use it', hoursOrAlways)
    .addOption(
      new Option('--foreign <yes|no>', 'no: only you may use it, whatever is shared').choices([
        'yes',
        'no',
      ]),
    )
    .addOption(configOption())
    .addHelpText('after', example('services limit llm-1a2b3c4d --slots 2 --hours 22:00-07:00'))
    .action(limit);
}

async function limit(id: string, options: LimitOptions): Promise<void> {
  const location = enterConfig(options.config);
  const { services = [] } = await readSoundConfig(location);
  const index = serviceIndex(id, services);
  const changes = changesOf(options);
  if (Object.keys(changes).length === 0) {
    const message = `services limit ${id} changes nothing: name --slots, --hours or --foreign.`;
    throw new CommandError(EXIT.usage, message);
  }
  await editConfigFile(location, (document) => {
    const entries = document['services'] as Record<string, unknown>[];
    document['services'] = entries.with(index, { ...entries[index], ...changes });
  });
  say(`Changed ${id}: ${Object.entries(changes).map(changeText).join(', ')}. ${RESTART}`);
}

type Limit = string | number | false | undefined;

/** A key that is undefined is not written, which means the default. */
function changesOf({ slots, hours, foreign }: LimitOptions): Record<string, Limit> {
  return {
    ...(slots !== undefined && { slots: slots === 'auto' ? undefined : slots }),
    ...(hours !== undefined && { hours: hours === 'always' ? undefined : hours }),
    ...(foreign !== undefined && { foreign: foreign === 'no' ? false : undefined }),
  };
}

function changeText([key, value]: [string, Limit]): string {
  const shown = value === undefined ? DEFAULTS[key] : value === false ? 'no' : String(value);
  return `${key} ${shown}`;
}

const DEFAULTS: Readonly<Record<string, string>> = {
  slots: 'auto',
  hours: 'always',
  foreign: 'yes',
};

const readSlots = countTo(LINK.maxStreams);

function slotsOrAuto(text: string): number | 'auto' {
  return text === 'auto' ? text : readSlots(text);
}

function hoursOrAlways(text: string): string {
  return text === 'always' ? text : parseHours(text);
}
