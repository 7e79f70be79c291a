/** How a member logs in: passkeys, and accounts of OpenID providers. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { MAX_PASSKEYS, registration } from '../../accounts/passkeys.js';
import type { OidcIdentity, Passkey, Removed, LogInMethods } from '../../store/port.js';
import { change, read } from './command.js';
import type { Mine } from './command.js';
import { notYours } from './own.js';

const MAX_NAME = 64;

const name = z
  .string()
  .trim()
  .regex(/^\P{C}+$/u, 'a name has no control characters, and is not empty')
  .max(MAX_NAME, `a name has at most ${MAX_NAME} characters`);

/** Null: the log-in is recent. */
const password = z.string().nullable();
const passkey = z.string();

export const MY_LOG_IN_METHODS = {
  'user.log-in-methods': read(z.strictObject({}), async (mine) => {
    const { hasPassword, passkeys, identities } = await waysOf(mine);
    return {
      has_password: hasPassword,
      max_passkeys: MAX_PASSKEYS,
      passkeys: passkeys.map(presentPasskey),
      oidc: identities.map(presentIdentity),
    };
  }),
  /** What the browser needs to make a passkey; its name and answer go to the next command. */
  'passkey.challenge': change(z.strictObject({ password }), async (mine, args) => {
    await mine.prove(args.password);
    const { passkeys } = await waysOf(mine);
    if (passkeys.length >= MAX_PASSKEYS) throw tooMany();
    return mine.passkeys.askForNew(mine.member, passkeys);
  }),
  'passkey.add': change(z.strictObject({ name, response: registration }), async (mine, args) => {
    const { context, member } = mine;
    const checked = await mine.passkeys.checkNew(member.id, args.response);
    if (checked === null) throw notMade();
    const added = { ...checked, memberId: member.id, name: args.name, cap: MAX_PASSKEYS };
    const outcome = await context.store.addPasskey(added, context.now());
    if (outcome.kind === 'full') throw tooMany();
    if (outcome.kind === 'known') throw knownAlready();
    if (outcome.kind !== 'added') throw notMade();
    return { name: args.name };
  }),
  'passkey.rename': change(z.strictObject({ passkey, name }), async (mine, args) => {
    const { context, member } = mine;
    const isOwn = await context.store.renamePasskey(member.id, args.passkey, args.name);
    if (!isOwn) throw notYours('passkey', args.passkey);
    return { name: args.name };
  }),
  'passkey.remove': change(z.strictObject({ passkey, password }), async (mine, args) => {
    await mine.prove(args.password);
    const { context, member } = mine;
    requireRemoved(await context.store.removePasskey(member.id, args.passkey), {
      noun: 'passkey',
      id: args.passkey,
    });
    return {};
  }),
  'oidc.disconnect': change(
    z.strictObject({ issuer: z.string(), password }),
    async (mine, args) => {
      await mine.prove(args.password);
      const { context, member } = mine;
      requireRemoved(await context.store.disconnectOidc(member.id, args.issuer), {
        noun: 'connected account',
        id: args.issuer,
      });
      return {};
    },
  ),
};

async function waysOf({ context, member }: Mine): Promise<LogInMethods> {
  const ways = await context.store.logInMethods(member.id);
  if (ways === null) throw new CommandError(EXIT.notFound, 'you are not a member any more.');
  return ways;
}

function requireRemoved(outcome: Removed, { noun, id }: { noun: string; id: string }): void {
  if (outcome === 'unknown') throw notYours(noun, id);
  if (outcome === 'last') throw onlyWay();
}

function onlyWay(): CommandError {
  const message = 'you could not log in any more: set a password or add a passkey first.';
  return new CommandError(EXIT.conflict, message);
}

function tooMany(): CommandError {
  const message = `You have ${MAX_PASSKEYS} passkeys, which is the most. Delete one first.`;
  return new CommandError(EXIT.conflict, message);
}

function knownAlready(): CommandError {
  return new CommandError(EXIT.conflict, 'this passkey is here already.');
}

function notMade(): CommandError {
  const message =
    'the passkey is not accepted: it took longer than five minutes, or the page is not the ' +
    "gateway's own. Try again.";
  return new CommandError(EXIT.usage, message);
}

function presentPasskey({ id, name: called, createdAt, lastUsedAt }: Passkey) {
  return { id, name: called, created_at: createdAt, last_used_at: lastUsedAt };
}

function presentIdentity({ issuer, email, createdAt, lastUsedAt }: OidcIdentity) {
  return { issuer, email, created_at: createdAt, last_used_at: lastUsedAt };
}
