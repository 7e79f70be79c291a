/** `gateway-agent services add`: one more local model server. */
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import { print, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { ConfigLocation } from '../config-location.js';
import type { ServiceConfig } from '../backends/backend.js';
import { createBackend } from '../backends/create-backend.js';
import { locateConfig } from '../config.js';
import { editConfigFile, readSoundConfig } from '../config-file.js';
import { configError } from '../config-problems.js';
import { parseConfig, serviceId } from '../config-schema.js';
import type { FileService } from '../config-schema.js';
import { loadServices } from '../config-services.js';
import { configOption, example } from './options.js';
import type { ConfigOption } from './options.js';

const CHECK_TIMEOUT_MS = 5_000;

interface AddOptions extends ConfigOption {
  readonly type: string;
  readonly backend: string;
  readonly baseUrl: string;
  readonly slots?: string;
  readonly slotGroup?: string;
  readonly apiKeyFile?: string;
  readonly model?: readonly string[];
  readonly id?: string;
  readonly check?: boolean;
}

export function addServicesAdd(services: Command): void {
  services
    .command('add')
    .description('add a local model server to the configuration')
    .requiredOption('--type <type>', 'llm, stt, tts, image, video or music')
    .requiredOption('--backend <name>', 'openai, or a server with ways of its own: ollama, …')
    .requiredOption('--base-url <url>', 'where it answers, like http://127.0.0.1:8080/v1')
    .option('--slots <n>', 'requests at once (default: what the server reports, else 1)')
    .option('--slot-group <name>', 'services of one group share their slots: one card')
    .option('--api-key-file <file>', "the server's own key")
    .option('--model <id...>', 'exactly these models (default: all that the server lists)')
    .option('--id <id>', 'a name of its own (default: made from type, backend and URL)')
    .option('--check', 'exit 6 and change nothing when the server does not answer')
    .addOption(configOption())
    .addHelpText(
      'after',
      example('services add --type llm --backend openai --base-url http://127.0.0.1:8080/v1'),
    )
    .action(add);
}

async function add(options: AddOptions): Promise<void> {
  const location = locateConfig(options.config);
  await readSoundConfig(location);
  const entry = newEntry(options, location.file);
  const { services, problems } = await loadServices([entry], location.file);
  if (problems.length > 0) throw entryError(problems, EXIT.notFound);
  const found = await describe(services);
  if (found.fault !== null && options.check === true) {
    throw new CommandError(EXIT.localServerUnreachable, `${found.fault} Nothing was changed.`);
  }
  await appendServices(location, [entry]);
  print(serviceId(entry));
  say(found.fault === null ? `It serves ${found.models}.` : `warning: ${found.fault}`);
  say(RESTART);
}

export const RESTART = 'An agent that runs already takes it up when it is restarted.';

/** Adds entries at the end of the file. Throws where one is there already, or wrong. */
export async function appendServices(
  location: ConfigLocation,
  entries: readonly FileService[],
): Promise<void> {
  await editConfigFile(location, (document) => {
    const before = (document['services'] as unknown[] | undefined) ?? [];
    document['services'] = [...before, ...entries];
  });
}

/** The flags as an entry of the file; all that is wrong with them is told at once. */
function newEntry(options: AddOptions, configFile: string): FileService {
  const entry = {
    id: options.id,
    type: options.type,
    backend: options.backend,
    base_url: options.baseUrl,
    slots: wholeNumber(options.slots),
    slot_group: options.slotGroup,
    api_key_file: fromFolderOf(configFile, options.apiKeyFile),
    models: options.model?.map((id) => ({ id })),
  };
  // Absent flags leave no key in the file.
  const given = Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== undefined),
  );
  const { config, problems } = parseConfig({ services: [given] });
  const [sound] = config.services ?? [];
  if (sound === undefined || problems.length > 0) throw entryError(problems, EXIT.usage);
  return sound;
}

function entryError(problems: readonly string[], exitCode: ExitCode): CommandError {
  const lines = problems.map((line) => line.replace('services[0].', ''));
  return configError('the new service', lines, exitCode);
}

/** Text that is no number stays as it is, for the schema to name it. */
function wholeNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

/** The file names key files from its own folder, a shell from where it stands. */
function fromFolderOf(configFile: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const path = relative(dirname(configFile), resolve(file));
  return path.startsWith('..') || isAbsolute(path) ? resolve(file) : path;
}

interface Found {
  readonly models: string;
  /** Why the server could not be asked, and what to do; null where it answered. */
  readonly fault: string | null;
}

async function describe([service]: readonly ServiceConfig[]): Promise<Found> {
  if (service === undefined) return { models: '', fault: null };
  try {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const { models } = await createBackend(service).describe(signal);
    return { models: models.map(({ id }) => id).join(', ') || 'no model at present', fault: null };
  } catch (error) {
    const reason = (error as Error).message;
    return {
      models: '',
      fault: `${service.baseUrl} does not answer as ${service.backend}: ${reason}. Is it running?`,
    };
  }
}
