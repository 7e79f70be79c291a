/** What commands refuse depending on the data: a folder, and a row for each refusal. */
import type { Store } from '@inference-gateway/coordinator/store/port';
import {
  createJoinToken,
  createKey,
  createMember,
  created,
  sha256,
} from '../../store/store-rows.js';
import type { Failure } from './expect-failures.js';
import { fillWithJobs } from './jobs-in-store.js';
import { addProvider } from './providers-in-store.js';

export interface Refused {
  readonly ids: Readonly<Record<'canceled' | 'queued' | 'used' | 'revoked', string>>;
  /** Two keys have this prefix. */
  readonly prefix: string;
}

/**
 * Anna has two machines, keys and the network `friends` with Ben in it, and blocks Carl. Ben has a
 * machine and the network `work`.
 */
export async function fillForRefusals(store: Store): Promise<Refused> {
  const { anna, ben, canceled, queued } = await fillWithJobs(store);
  const carl = await createMember(store, 'carl');
  const den = await addProvider(store, 'anna', { name: 'den-pc' });
  await addProvider(store, 'anna', { name: 'hall-pc' });
  const subject = { serviceId: 'llm-1', model: null };
  const friends = created(await store.createNetwork({ name: 'friends', ownerId: anna.id }, 1));
  await store.createNetwork({ name: 'work', ownerId: ben.id }, 2);
  await store.joinNetwork(friends.id, ben.id, 3);
  const audience = { kind: 'network', id: friends.id } as const;
  const caps = { slots: null, hours: null, maxTokens: null };
  await store.setAlias({ memberId: null, name: 'fast', models: ['small'], cap: 9 }, 4);
  await store.putShare({ providerId: den.id, subject, audience, caps }, 4);
  await store.blockMember({ ownerId: anna.id, memberId: carl.id }, 5);
  const prefix = 'gwk_00000000';
  for (const name of ['laptop', 'phone']) await createKey(store, anna.id, { name, prefix });
  const old = await createKey(store, anna.id, { name: 'old' });
  await store.setKeyState(old.key.id, 'revoked', Date.now());
  const { joinToken } = await createJoinToken(store, { ownerId: anna.id });
  await store.revokeJoinToken(joinToken.id, Date.now());
  const invite = { email: 'dora@example.org', role: 'member', networkId: null } as const;
  const kept = created(await store.createInvite({ ...invite, hash: sha256('x'), expiresAt: 9 }, 6));
  await store.revokeInvite(kept.id, 7);
  const tokens = await store.listJoinTokens();
  const used = tokens.find(({ usedAt }) => usedAt !== null)?.id ?? '';
  return {
    ids: { canceled: canceled.id, queued: queued.id, used, revoked: joinToken.id },
    prefix,
  };
}

/** Exit code 3, for each thing that each command names. */
export const UNKNOWN: readonly Failure[] = [
  ...[
    'user show nobody',
    'user rename nobody carla',
    'user role nobody admin',
    'user disable nobody',
    'user reset-link nobody',
    'user enable nobody',
    'user delete nobody --yes',
    'user password nobody --password-file PASSWORD',
    'user sessions nobody',
    'user logout nobody',
    'key create --user nobody --name k',
    'key list --user nobody',
    'token create --owner nobody',
    'device approve BCDF-GHJK --owner nobody --yes',
    'network create club --owner nobody',
    'network add friends nobody',
    'network remove friends nobody',
    'provider share hall-pc --user nobody',
    'provider unshare anna/den-pc --user nobody',
    'provider block nobody --owner anna',
    'provider block ben --owner nobody',
    'provider unblock nobody --owner anna',
    'provider unblock ben --owner nobody',
    'model list --user nobody',
    'alias set x m --user nobody',
    'alias list --user nobody',
    'alias remove x --user nobody',
    'limit set nobody --requests 5',
    'limit show nobody',
    'limit clear nobody',
    'job list --user nobody',
    'batch list --user nobody',
    'asset list --user nobody',
    'stats --user nobody',
  ].map((line): Failure => [line, 3, "called 'nobody'. "]),
  ...[
    'user invite --email eve@example.org --network frends',
    'network show frends',
    'network add frends ben',
    'network remove frends ben',
    'network rename frends club',
    'network delete frends --yes',
    'provider share hall-pc --network frends',
    'provider unshare anna/den-pc --network frends',
  ].map((line): Failure => [line, 3, "no network is called 'frends'. Did you mean friends?"]),
  ...[
    'provider show hal-pc',
    'provider drain hal-pc',
    'provider resume hal-pc',
    'provider kick hal-pc',
    'provider approve hal-pc',
    'provider rename hal-pc x',
    'provider remove hal-pc --yes',
    'provider share hal-pc --network friends',
    'provider unshare hal-pc --network friends',
    'token create --owner anna --replace hal-pc',
  ].map((line): Failure => [line, 3, "no provider is called 'hal-pc'. Did you mean hall-pc?"]),
  ...[
    'key show anna/labtop',
    'key limit anna/labtop --models a',
    'key rename anna/labtop x',
    'key rotate anna/labtop',
    'key disable anna/labtop',
    'key enable anna/labtop',
    'key revoke anna/labtop --yes',
  ].map((line): Failure => [line, 3, "no key is called 'anna/labtop'. Did you mean anna/laptop?"]),
  ['alias remove fats', 3, "no alias is called 'fats'. Did you mean fast?"],
  ['alias remove fast --user anna', 3, "no alias is called 'fast'"],
  ['user uninvite dorra@example.org', 3, 'Did you mean dora@example.org?'],
  ['token revoke T --yes', 3, "there is no token 'T'"],
  ['device approve BCDF-GHJL --owner anna --yes', 3, 'no machine that waits has the code'],
  ['device deny BCDF-GHJL', 3, 'no machine that waits has the code'],
  ['provider unshare anna/den-pc --share S', 3, 'no share of anna/den-pc fits that'],
  ['provider unshare hall-pc --all', 3, 'Nothing of it is shared'],
  ...['show', 'cancel', 'retry'].map((verb): Failure => [`job ${verb} J`, 3, "no job 'J'"]),
  ...['show', 'cancel'].map((verb): Failure => [`batch ${verb} B`, 3, "no batch 'B'"]),
  ['user create --email eve@example.org --password-file /nowhere', 3, 'cannot read /nowhere'],
  ['user password anna --password-file /nowhere', 3, 'cannot read /nowhere'],
];

/** Exit code 7: already taken, ambiguous, ended, or nothing to change. */
export function conflicts({ ids, prefix }: Refused): readonly Failure[] {
  return [
    ['user create --email ANNA@example.org', 7, 'exists already'],
    ['user create --email eve@example.org --name Anna', 7, "the name 'Anna' exists already"],
    ['user rename ben Anna', 7, "the name 'Anna' exists already"],
    ['user invite --email anna@example.org', 7, 'exists already'],
    ['user uninvite dora@example.org', 7, 'is revoked already'],
    ['key create --user anna --name laptop', 7, "has a key 'laptop' already"],
    ['key rename anna/phone laptop', 7, "has a key 'laptop' already"],
    ...[
      'key limit anna/old --models a',
      'key rename anna/old x',
      'key rotate anna/old',
      'key disable anna/old',
      'key enable anna/old',
      'key revoke anna/old --yes',
    ].map((line): Failure => [line, 7, 'is revoked, which cannot be taken back']),
    ...[
      `key show ${prefix}`,
      `key limit ${prefix} --models a`,
      `key rename ${prefix} x`,
      `key rotate ${prefix}`,
      `key disable ${prefix}`,
      `key enable ${prefix}`,
      `key revoke ${prefix} --yes`,
    ].map((line): Failure => [line, 7, `'${prefix}' is the key of several`]),
    [`token revoke ${ids.used} --yes`, 7, 'is used: nothing has changed'],
    [`token revoke ${ids.revoked} --yes`, 7, 'is revoked: nothing has changed'],
    ['network create FRIENDS --owner ben', 7, "a network 'FRIENDS' exists already"],
    ['network rename work friends', 7, "a network 'friends' exists already"],
    ['network add friends ben', 7, 'ben is in friends already'],
    ['network remove friends carl', 7, 'carl is not in friends'],
    ['network remove friends anna', 7, 'its owner cannot leave it'],
    ...[
      'provider show den-pc',
      'provider drain den-pc',
      'provider resume den-pc',
      'provider kick den-pc',
      'provider approve den-pc',
      'provider rename den-pc x',
      'provider remove den-pc --yes',
      'provider share den-pc --network friends',
      'provider unshare den-pc --all',
    ].map((line): Failure => [line, 7, "'den-pc' is the provider of several"]),
    ['provider kick hall-pc', 7, 'anna/hall-pc is not online'],
    ['provider approve hall-pc', 7, 'anna/hall-pc is approved already'],
    ['provider rename hall-pc den-pc', 7, "anna has a provider 'den-pc' already"],
    ['provider share hall-pc --user anna', 7, "anna/hall-pc is anna's own"],
    ['provider block carl --owner anna', 7, 'anna blocks carl already'],
    ['provider block anna --owner anna', 7, 'cannot be kept from what is their own'],
    ['provider unblock ben --owner anna', 7, 'anna does not block ben'],
    ['alias set slow fast', 7, "'fast' is an alias, and aliases do not nest"],
    ['alias set small m', 7, "the alias 'fast' names 'small' as a model"],
    [`job cancel ${ids.canceled}`, 7, 'it is CANCELED, and nothing has changed'],
    [`job retry ${ids.queued}`, 7, 'only FAILED and CANCELED jobs can be retried'],
  ];
}

/** Exit code 2, for what the operation finds wrong, not the parser of the command line. */
export const WRONG: readonly Failure[] = [
  ...[
    'key revoke anna/laptop',
    'token revoke T',
    'network delete friends',
    'provider remove hall-pc',
    'prune',
  ].map((line): Failure => [line, 2, 'add --yes']),
  ...[
    'user create --email eve@example.org --name a/b',
    'user rename anna a/b',
    'key create --user anna --name a/b',
    'key rename anna/laptop a/b',
    'token create --owner anna --name a/b',
    'network create a/b --owner anna',
    'network rename friends a/b',
    'provider rename hall-pc a/b',
  ].map((line): Failure => [line, 2, 'a name has 1 to 64 characters']),
  ['device approve BCDFGH --owner anna --yes', 2, 'is not a code'],
  ['device deny BCDFGH', 2, 'is not a code'],
  ['user create --email eve', 2, 'an e-mail address is written like'],
  ['user invite --email eve', 2, 'an e-mail address is written like'],
  ['user password anna --password-file SHORT', 2, 'at least 12 characters'],
  ['key rotate anna/laptop --overlap 91d', 2, 'at most 90d'],
  ['token create --owner anna --name x --replace hall-pc', 2, 'leave out --name or --replace'],
  ['token create --owner carl --replace hall-pc', 2, 'belongs to anna, not to carl'],
  ['provider share hall-pc', 2, 'say with whom'],
  ['provider share hall-pc --network friends --user ben', 2, 'one of the two'],
  ['provider share hall-pc --network friends --service a --model b', 2, 'not both'],
  ['provider share hall-pc --network friends --slots 1025', 2, '--slots is a whole number'],
  ['provider share hall-pc --network friends --max-tokens 1000001', 2, '--max-tokens is a whole'],
  ['provider share hall-pc --network friends --hours 7', 2, 'hours are written 22:00-07:00'],
  ['provider share hall-pc --network friends --time-zone UTC', 2, 'name --hours'],
  [
    'provider share hall-pc --network friends --hours 22:00-07:00 --time-zone Mars',
    2,
    "'Mars' is no time zone",
  ],
  ['provider unshare hall-pc', 2, 'say what to end'],
  ['limit set anna', 2, 'name at least one'],
  ['limit set anna --requests 1000001', 2, 'from 1 to 1000000'],
  ['alias set a*b m', 2, "name: 'a*b' has a '*' before its end"],
  ['alias set a,b m', 2, 'name: an alias has no comma'],
  ['alias set a m*', 2, "models: 'm*' is a pattern"],
  ['alias set a m m', 2, "models: 'm' is named twice"],
  ['alias set a a', 2, "models: 'a' is the alias itself"],
  ['alias set a 1 2 3 4 5 6 7 8 9', 2, 'models: an alias stands for 1 to 8 models, not 9'],
  ['audit list --action Key', 2, "'key' or 'key.create'"],
  ...['job', 'batch', 'audit'].map((noun): Failure => [
    `${noun} list --limit 501`,
    2,
    'a list has 1 to 500 rows',
  ]),
  ['asset list --limit 1001', 2, 'a list has 1 to 1000 rows'],
  ['job list --status FAILED --active', 2, 'cannot be used with'],
];
