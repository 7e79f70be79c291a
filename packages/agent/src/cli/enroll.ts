/**
 * `gateway-agent enroll`: makes this machine a provider of the member whose join token it holds.
 */
import { readSecret } from '@inference-gateway/shared/program/secret';
import type { Command } from 'commander';
import { hostname } from 'node:os';
import { interruption } from '@inference-gateway/shared/program/shutdown';
import { say, print } from '@inference-gateway/shared/program/print';
import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { enroll, awaitApproval, beginLogIn } from '../coordinator-api/enrolment.js';
import type { LogIn, Enrolment } from '../coordinator-api/enrolment.js';
import { readEnvironment } from '../config/config.js';
import { editConfigFile, readSoundConfig, writePrivateFile } from '../config/file.js';
import type { ConfigLocation } from '../config/file.js';
import { configError, problem } from '../config/problems.js';
import { coordinatorUrl, coordinatorUrlFault } from '../config/schema.js';
import { configOption, example, enterConfig } from './options.js';
import type { ConfigOption } from './options.js';

interface EnrollOptions extends EnrolmentOptions {
  readonly tokenFile: string;
}

export function addEnroll(program: Command): void {
  program
    .command('enroll')
    .description('make this machine a provider, with a join token from the coordinator')
    .option('--url <url>', 'the coordinator (GATEWAY_AGENT_URL)')
    .requiredOption('--token-file <file>', 'the join token (gwj_…) in a file, or - for stdin')
    .option('--name <name>', 'what the provider is called (GATEWAY_AGENT_NAME)')
    .option('--force', 'replace an earlier enrolment')
    .addOption(configOption())
    .addHelpText(
      'after',
      example('enroll --url https://gateway.example.org --token-file join.txt --name den-pc'),
    )
    .action(enrollHere);
}

async function enrollHere(options: EnrollOptions): Promise<void> {
  const place = await findPlace(options);
  const joinToken = await readSecret(options.tokenFile);
  await requireWritable(place);
  const { url, name } = place;
  await keepEnrolment(place, await enroll({ url, joinToken, name }));
}

/** The coordinator's limit. */
const MAX_HOST = 64;

/**
 * `gateway-agent login`: makes this machine a provider of the member for whom the displayed code is
 * approved.
 */
export function addLogin(program: Command): void {
  program
    .command('login')
    .description('make this machine a provider: shows a code, and waits until it is approved')
    .option('--url <url>', 'the coordinator (GATEWAY_AGENT_URL)')
    .option('--name <name>', 'what the provider is called (GATEWAY_AGENT_NAME)')
    .option('--force', 'replace an earlier enrolment')
    .addOption(configOption())
    .addHelpText('after', example('login --url https://gateway.example.org --name den-pc'))
    .action(logInHere);
}

async function logInHere(options: EnrolmentOptions): Promise<void> {
  const place = await findPlace(options);
  await requireWritable(place);
  const { url, name } = place;
  const host = hostname().slice(0, MAX_HOST);
  const stop = interruption('this machine is not enrolled.');
  const logIn = await beginLogIn({ url, name, host, stop });
  announce(logIn, host);
  await keepEnrolment(place, await awaitApproval(logIn));
}

function announce({ url, userCode, approve, page, lifetimeMs }: LogIn, host: string): void {
  const minutes = Math.max(1, Math.round(lifetimeMs / 60_000));
  const code = `The code of this machine (${host}) is ${userCode}. Within ${minutes} min,`;
  if (page === null) {
    say(`${code} where ${url} runs:`);
  } else {
    say(`${code} open:`);
    say(`  ${page}`);
    say(`Or, where ${url} runs:`);
  }
  say(`  ${approve}`);
  say('Waiting for the approval. Press Ctrl-C to give up.');
}

// Stores an enrolment, for `enroll` and `login`.

interface EnrolmentOptions extends ConfigOption {
  readonly url?: string;
  readonly name?: string;
  readonly force?: boolean;
}

interface EnrolmentPlace {
  readonly location: ConfigLocation;
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
}

/** Throws a `CommandError` if there is an enrolment already, unless it may be replaced. */
async function findPlace(options: EnrolmentOptions): Promise<EnrolmentPlace> {
  // A named file need not exist: enrolling creates it.
  const location = { ...enterConfig(options.config), named: false };
  const target = await targetOf(options, location);
  if (options.force !== true && existsSync(location.tokenFile)) throw alreadyEnrolled(location);
  return { location, ...target };
}

/** The coordinator gives a token only once: the writes after it must not fail. */
async function requireWritable({ location }: EnrolmentPlace): Promise<void> {
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

/** Writes token and configuration, and prints the next step. */
async function keepEnrolment(place: EnrolmentPlace, enrolment: Enrolment): Promise<void> {
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

/** Coordinator and provider name: flags > environment > file. */
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
