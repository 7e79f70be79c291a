/** `gateway-agent services add`: adds a local model server. */
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import { print, say } from '@inference-gateway/shared/program/print';
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { Option } from 'commander';
import type { Command } from 'commander';
import { didYouMean } from '@inference-gateway/shared/nearest';
import type { ConfigLocation } from '../config/file.js';
import type { Backend, ServiceConfig } from '../backends/backend.js';
import { BACKENDS, createBackend } from '../backends/create-backend.js';
import { TRIAL_LIMITS_MS, tryModel } from '../backends/proving/try-model.js';
import { loadConfig } from '../config/config.js';
import { editConfigFile, readSoundConfig } from '../config/file.js';
import { configError } from '../config/problems.js';
import { parseConfig, serviceId } from '../config/schema.js';
import type { FileService } from '../config/schema.js';
import { loadServices } from '../config/services.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { Ffmpeg } from '../media/ffmpeg.js';
import { configOption, enterConfig, example } from './options.js';
import type { ConfigOption } from './options.js';

const CHECK_TIMEOUT_MS = 5_000;

interface AddOptions extends ConfigOption {
  readonly type: string;
  readonly backend: string;
  readonly baseUrl: string;
  readonly slots?: string;
  readonly slotGroup?: string;
  readonly apiKeyFile?: string;
  readonly workflows?: string;
  readonly model?: readonly string[];
  readonly id?: string;
  readonly check?: boolean;
  readonly prove: boolean;
}

export function addServicesAdd(services: Command): void {
  services
    .command('add')
    .description('add a local model server to the configuration')
    .addOption(oneOf('--type <type>', 'what kind of work it does', SERVICE_TYPES))
    .addOption(
      oneOf('--backend <name>', 'which model server it is; for any not listed: openai', BACKENDS),
    )
    .requiredOption('--base-url <url>', 'its address, such as http://127.0.0.1:8080/v1')
    .option('--slots <n>', 'requests at once (default: what the server reports, else 1)')
    .option('--slot-group <name>', 'services of one group share their slots, as on one card')
    .option('--api-key-file <file>', "a file with the model server's own key")
    .option(
      '--workflows <folder>',
      'for comfyui: a JSON file for each model (needed for video, music)',
    )
    .option('--model <id...>', 'exactly these models (default: all that the server lists)')
    .option('--id <id>', 'id of the service (default: made from type, backend and URL)')
    .option('--check', 'add it only if a model answers a tiny question; else exit 6 or 9')
    .option('--no-prove', 'offer its models without a test request first')
    .addOption(configOption())
    .addHelpText(
      'after',
      example('services add --type llm --backend openai --base-url http://127.0.0.1:8080/v1'),
    )
    .action(add);
}

/** Help and shell completion list the values; a wrong value is reported with all other faults. */
function oneOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description).makeOptionMandatory();
  option.argChoices = [...values];
  return option;
}

async function add(options: AddOptions): Promise<void> {
  const location = enterConfig(options.config);
  await readSoundConfig(location);
  const entry = newEntry(options, location.file);
  const { services, problems, wrong } = await loadServices([entry], location.file);
  if (wrong.length > 0) throw entryError(wrong, EXIT.usage);
  if (problems.length > 0) throw entryError(problems, EXIT.notFound);
  const isChecked = options.check === true;
  const found = await describe(services, isChecked ? await converter(location) : null);
  if (isChecked) await check(found);
  await appendServices(location, [entry]);
  print(serviceId(entry));
  say(found.fault === null ? `It serves ${namesOf(found)}.` : `warning: ${found.fault}`);
  say(RESTART);
}

export const RESTART = 'An agent that runs already takes it up when it is restarted.';

/** Adds entries at the end of the file. Throws if an entry exists already, or is wrong. */
export async function appendServices(
  location: ConfigLocation,
  entries: readonly FileService[],
): Promise<void> {
  await editConfigFile(location, (document) => {
    const before = (document['services'] as unknown[] | undefined) ?? [];
    document['services'] = [...before, ...entries];
  });
}

/** The flags as an entry of the file; reports all faults at once. */
function newEntry(options: AddOptions, configFile: string): FileService {
  const entry = {
    id: options.id,
    type: options.type,
    backend: options.backend,
    base_url: options.baseUrl,
    slots: wholeNumber(options.slots),
    slot_group: options.slotGroup,
    api_key_file: fromFolderOf(configFile, options.apiKeyFile),
    workflows: fromFolderOf(configFile, options.workflows),
    models: options.model?.map((id) => ({ id })),
    prove: options.prove ? true : undefined,
  };
  // Absent flags add no key to the file.
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

/** Text that is not a number stays unchanged, so that the schema reports it. */
function wholeNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

/**
 * Key files are relative to the configuration file, but on the command line to the current folder.
 */
function fromFolderOf(configFile: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const path = relative(dirname(configFile), resolve(file));
  return path.startsWith('..') || isAbsolute(path) ? resolve(file) : path;
}

interface Found {
  readonly service: ServiceConfig;
  readonly backend: Backend;
  readonly models: readonly AdvertisedModel[];
  /** Why the server did not answer, and the remedy; null if it answered. */
  readonly fault: string | null;
}

/** A test request may need one. */
async function converter(location: ConfigLocation): Promise<Ffmpeg | null> {
  return findFfmpeg((await loadConfig(location)).ffmpeg);
}

async function describe(services: readonly ServiceConfig[], ffmpeg: Ffmpeg | null): Promise<Found> {
  const [service] = services;
  if (service === undefined) throw new Error('there is no service to describe');
  const backend = createBackend(service, { ffmpeg });
  try {
    const { models } = await backend.describe(AbortSignal.timeout(CHECK_TIMEOUT_MS));
    return { service, backend, models, fault: null };
  } catch (error) {
    const reason = (error as Error).message;
    const fault = `${service.baseUrl} does not answer as ${service.backend}: ${sentence(reason)}`;
    return { service, backend, models: [], fault };
  }
}

/** A server's message may end with any character. */
function sentence(reason: string | null): string {
  if (reason === null) return 'no reason is known.';
  return /[.?!]$/.test(reason) ? reason : `${reason}.`;
}

function namesOf({ models }: Found): string {
  return models.map(({ id }) => id).join(', ') || 'no model at present';
}

/** Tries one model, preferably a loaded one. Throws if it does not answer well. */
async function check({ service, backend, models, fault }: Found): Promise<void> {
  if (fault !== null) {
    throw new CommandError(EXIT.localServerUnreachable, `${fault} Nothing was changed.`);
  }
  const model = models.find(({ loaded }) => loaded === true) ?? models[0];
  if (model === undefined) return;
  const limitMs = TRIAL_LIMITS_MS[service.type];
  const stop = new AbortController().signal;
  const trial = await tryModel({ config: service, backend, model }, { limitMs, stop });
  if (trial.ok) return;
  const exitCode = trial.cut === 'unreachable' ? EXIT.localServerUnreachable : EXIT.checkFailed;
  const reason = sentence(trial.reason);
  const message = `${model.id} did not pass its test: ${reason} Nothing was changed.`;
  throw new CommandError(exitCode, message);
}

// Finds the configured service with an id.

/** Its index in the file. Throws with exit code 3 if no service has that id. */
export function serviceIndex(id: string, services: readonly FileService[]): number {
  const index = services.findIndex((service) => serviceId(service) === id);
  if (index !== -1) return index;
  const meant = didYouMean(id, services.map(serviceId)) ?? 'see "services list".';
  throw new CommandError(EXIT.notFound, `no service has the id "${id}": ${meant}`);
}
