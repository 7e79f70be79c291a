import { print, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { admin } from './client.js';
import { parseDuration } from './duration.js';
import { dataOption, example, isoTime } from './options.js';
import type { DataOption } from './options.js';

interface CreateOptions extends DataOption {
  readonly owner: string;
  readonly name?: string;
  /** Seconds. */
  readonly expires: number;
}

export function addToken(program: Command): void {
  const token = program
    .command('token')
    .description('join tokens: each makes one machine a provider')
    .addHelpText('after', example('token create --owner anna@example.org'));
  token
    .command('create')
    .description('create a join token for one enrolment; prints the token alone')
    .requiredOption('--owner <member>', 'who will own the provider: id, e-mail address or name')
    .option('--name <name>', 'what the provider is called, unless its agent says otherwise')
    .addOption(
      new Option('--expires <duration>', '30m, 1h or 7d')
        .argParser(parseDuration)
        .default(parseDuration('1h'), '1h'),
    )
    .addOption(dataOption())
    .addHelpText('after', example('token create --owner anna@example.org --name den-pc'))
    .action(create);
}

async function create(options: CreateOptions): Promise<void> {
  const { owner, name, expires } = options;
  const created = await admin(options, 'token.create', {
    owner,
    name: name ?? null,
    expires_in_s: expires,
  });
  print(created.token);
  const end = isoTime(created.expires_at);
  say(`For one machine of ${created.owner}, until ${end}. Next: gateway-agent enroll`);
}
