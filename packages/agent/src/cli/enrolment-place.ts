/** Where an enrolment is kept, however the machine comes by it. */
import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print, say } from '@inference-gateway/shared/program/print';
import { readEnvironment } from '../config.js';
import { editConfigFile, readSoundConfig, writePrivateFile } from '../config-file.js';
import type { ConfigLocation } from '../config-location.js';
import { configError, problem } from '../config-problems.js';
import { coordinatorUrl, coordinatorUrlFault } from '../config-url.js';
import type { Enrolment } from '../coordinator-api/enrolment.js';
import type { ConfigOption } from './options.js';
import { enterConfig } from './options.js';

export interface EnrolmentOptions extends ConfigOption {
  readonly url?: string;
  readonly name?: string;
  readonly force?: boolean;
}

export interface EnrolmentPlace {
  readonly location: ConfigLocation;
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
}

/** Throws a `CommandError` where there is an enrolment already, unless it is to be replaced. */
export async function findPlace(options: EnrolmentOptions): Promise<EnrolmentPlace> {
  // A file that is named here need not exist: enrolling creates it.
  const location = { ...enterConfig(options.config), named: false };
  const target = await targetOf(options, location);
  if (options.force !== true && existsSync(location.tokenFile)) throw alreadyEnrolled(location);
  return { location, ...target };
}

/** What the coordinator gives, it gives once: what comes after must not fail. */
export async function requireWritable({ location }: EnrolmentPlace): Promise<void> {
  const folder = dirname(location.file);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (cause) {
    const reason = (cause as Error).message;
    const message = `cannot write to ${folder}: ${reason}. Name another file with --config.`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
}

/** Writes token and configuration, and says what comes next. */
export async function keepEnrolment(place: EnrolmentPlace, enrolment: Enrolment): Promise<void> {
  const { location, url } = place;
  await writePrivateFile(location.tokenFile, `${enrolment.token}\n`);
  await editConfigFile(location, (document) => {
    document['url'] = url;
    document['name'] = enrolment.name;
  });
  print(`enrolled as ${enrolment.name} at ${url}`);
  if (!enrolment.approved) {
    const command = `gateway-coordinator provider approve ${enrolment.provider_id}`;
    say(`It gets no work until an administrator of ${url} has approved it: ${command}`);
  }
  const { services } = await readSoundConfig(location);
  const isReady = (services ?? []).length > 0;
  const found = 'gateway-agent start --yes (it adds the model servers that it finds)';
  say(`Written to ${location.file}. Next: ${isReady ? 'gateway-agent start' : found}.`);
}

/** Where to enrol and under which name: flags > environment > file. */
async function targetOf(
  options: EnrolmentOptions,
  location: ConfigLocation,
): Promise<Pick<EnrolmentPlace, 'url' | 'name'>> {
  const file = await readSoundConfig(location);
  const environment = readEnvironment();
  const flagFault = options.url === undefined ? null : coordinatorUrlFault(options.url);
  const flagProblems = flagFault === null ? [] : [problem('--url', options.url, flagFault)];
  const problems = [...flagProblems, ...environment.problems];
  if (problems.length > 0) throw configError('the command', problems);
  const url = options.url ?? environment.url ?? file.url;
  if (url === undefined) {
    throw new CommandError(EXIT.usage, 'which coordinator? Name it with --url https://….');
  }
  return {
    url: coordinatorUrl(url),
    name: options.name ?? environment.name ?? file.name ?? null,
  };
}

function alreadyEnrolled({ tokenFile }: ConfigLocation): CommandError {
  return new CommandError(
    EXIT.conflict,
    `this configuration is enrolled already: ${tokenFile} holds its token. ` +
      'Replace it with --force, or name another file with --config.',
  );
}
