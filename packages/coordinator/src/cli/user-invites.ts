import { print, printRows, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { readPublicUrl } from '../config/config.js';
import { admin } from './client.js';
import { parseDuration } from './duration.js';
import { dataOption, example, isoTime, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface InviteOptions extends DataOption {
  readonly email: string;
  readonly admin?: boolean;
  readonly network?: string;
  /** Seconds. */
  readonly expires: number;
}

/** The commands of `user` that bring people in. */
export function addUserInvites(user: Command): void {
  user
    .command('invite')
    .description('invite somebody, who chooses name and password; prints the link alone')
    .requiredOption('--email <address>', 'e-mail address, seen by admins only')
    .option('--admin', 'may administrate in the dashboard')
    .option('--network <network>', 'the network that they join with it')
    .addOption(
      new Option('--expires <duration>', '12h or 7d')
        .argParser(parseDuration)
        .default(parseDuration('7d'), '7d'),
    )
    .addOption(dataOption())
    .addHelpText('after', example('user invite --email ben@example.org --network friends'))
    .action(invite);
  user
    .command('invites')
    .description('list invites, the newest first; their secrets are stored nowhere')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user invites --json'))
    .action(list);
  user
    .command('uninvite')
    .description('take back an invite that nobody has used')
    .argument('<invite>', 'id, or the address: every open invite of it')
    .addOption(dataOption())
    .addHelpText('after', example('user uninvite ben@example.org'))
    .action(uninvite);
}

async function invite(options: InviteOptions): Promise<void> {
  const { email, network, expires } = options;
  const invited = await admin(options, 'user.invite', {
    email,
    admin: options.admin === true,
    network: network ?? null,
    expires_in_s: expires,
  });
  const origin = invited.origin ?? readPublicUrl(options);
  // Behind the #, it is sent to no server, so that no proxy on the way writes it down.
  print(origin === null ? invited.secret : `${origin}/join#${invited.secret}`);
  const end = `For ${invited.email}, once, until ${isoTime(invited.expires_at)}.`;
  if (origin !== null) {
    const body = `{"token": "<the link>", "name": "…", "password": "…", "key_name": "first"}`;
    return say(
      `${end} Whoever has the link can use it, and joins with:\n` +
        `  curl ${origin}/api/join -H 'content-type: application/json' -d '${body}'`,
    );
  }
  say(
    `${end} That is the token alone: no coordinator runs, and GATEWAY_PUBLIC_URL is unset. ` +
      'The link has <public URL>/join# before it.',
  );
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'user.invites', {}), COLUMNS, options.json === true);
}

async function uninvite(reference: string, options: DataOption): Promise<void> {
  const { email, revoked } = await admin(options, 'user.uninvite', { invite: reference });
  say(`Invites of ${email} that are revoked: ${revoked.length}.`);
}

type Row = AdminResult<'user.invites'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  email: ({ email }: Row) => email,
  role: ({ role }: Row) => role,
  network: ({ network }: Row) => network,
  state: ({ state }: Row) => state,
  expires: ({ expires_at: at }: Row) => isoTime(at),
};
