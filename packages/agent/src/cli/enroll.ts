/**
 * `gateway-agent enroll`: makes this machine a provider of the member whose join token it holds.
 */
import { readSecret } from '@inference-gateway/shared/program/secret';
import type { Command } from 'commander';
import { enroll } from '../coordinator-api/enrolment.js';
import { findPlace, keepEnrolment, requireWritable } from './enrolment-place.js';
import type { EnrolmentOptions } from './enrolment-place.js';
import { configOption, example } from './options.js';

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
