/**
 * `gateway-agent enroll`: makes this machine a provider of the member whose join token it holds.
 */
import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print, say } from '@inference-gateway/shared/program/print';
import { readSecret } from '@inference-gateway/shared/program/secret';
import type { Command } from 'commander';
import { locateConfig, readEnvironment } from '../config.js';
import { editConfigFile, readSoundConfig, writePrivateFile } from '../config-file.js';
import type { ConfigLocation } from '../config-location.js';
import { configError, problem } from '../config-problems.js';
import { coordinatorUrl, coordinatorUrlFault } from '../config-url.js';
import { enroll } from '../enroll.js';
import { configOption, example } from './options.js';
import type { ConfigOption } from './options.js';

interface EnrollOptions extends ConfigOption {
  readonly url?: string;
  readonly tokenFile: string;
  readonly name?: string;
  readonly force?: boolean;
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
  // A file that is named here need not exist: enrolling creates it.
  const location = { ...locateConfig(options.config), named: false };
  const { url, name } = await target(options, location);
  if (options.force !== true && existsSync(location.tokenFile)) throw alreadyEnrolled(location);
  const joinToken = await readSecret(options.tokenFile);
  await requireWritable(location);
  const enrolment = await enroll({ url, joinToken, name });
  await writePrivateFile(location.tokenFile, `${enrolment.token}\n`);
  await editConfigFile(location, (document) => {
    document['url'] = url;
    document['name'] = enrolment.name;
  });
  print(`enrolled as ${enrolment.name} at ${url}`);
  say(`Written to ${location.file}. Next: gateway-agent services scan --add, then start.`);
}

interface Target {
  readonly url: string;
  readonly name: string | null;
}

/** Where to enrol and under which name: flags > environment > file. */
async function target(options: EnrollOptions, location: ConfigLocation): Promise<Target> {
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

/** A join token is used up by the first answer: what comes after must not fail. */
async function requireWritable({ file }: ConfigLocation): Promise<void> {
  const folder = dirname(file);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (cause) {
    const reason = (cause as Error).message;
    const message = `cannot write to ${folder}: ${reason}. Name another file with --config.`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
}
