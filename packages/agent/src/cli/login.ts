/**
 * `gateway-agent login`: makes this machine a provider of the member for whom somebody approves the
 * code that it shows.
 */
import { hostname } from 'node:os';
import { interruption } from '@inference-gateway/shared/program/shutdown';
import { say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { awaitApproval, beginLogIn } from '../coordinator-api/enrolment.js';
import type { LogIn } from '../coordinator-api/enrolment.js';
import { findPlace, keepEnrolment, requireWritable } from './enrolment-place.js';
import type { EnrolmentOptions } from './enrolment-place.js';
import { configOption, example } from './options.js';

/** As much as the coordinator takes. */
const MAX_HOST = 64;

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
  say('Waiting for that. Ctrl-C gives up.');
}
