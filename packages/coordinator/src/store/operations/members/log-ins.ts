/** Ways to log in besides the password: passkeys, OpenID providers, links for a new password. */
import { ulid } from '@inference-gateway/shared/ids';
import type { Created, Member, OidcArrival, OidcIdentity, OidcRefusal } from '../../port.js';
import type { Passkey, Removed, Role, SpentChallenge } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { inviteOperations } from './invites.js';
import { createMember, memberById, memberSubject } from './member-rows.js';
import { sessionOperations } from './member-sessions.js';
import { memberOperations } from './members.js';

type LogInOperations = Pick<
  Operations,
  | 'logInMethods'
  | 'addPasskey'
  | 'findPasskey'
  | 'renamePasskey'
  | 'removePasskey'
  | 'logInByPasskey'
  | 'logInByOidc'
  | 'connectOidc'
  | 'disconnectOidc'
  | 'createPasswordReset'
  | 'resetPassword'
  | 'lastPasswordReset'
>;

export const logInOperations: LogInOperations = {
  *logInMethods(memberId) {
    const member = yield* memberById.get({ id: memberId });
    if (member === undefined) return null;
    const passkeys = (yield* passkeysOf.all({ memberId })).map(decodePasskey);
    const identities = yield* identitiesOf.all({ memberId });
    return { hasPassword: member.password_hash !== null, passkeys, identities };
  },

  *addPasskey({ cap, spent, transports, ...passkey }, now) {
    const { memberId } = passkey;
    const member = yield* memberById.get({ id: memberId });
    if (member === undefined) return { kind: 'unknown' };
    if (!(yield* spend(spent, now))) return { kind: 'spent' };
    const full = yield* capOfPasskeys(cap, { memberId });
    if (full !== null) return full;
    const row = { ...passkey, id: ulid(now), transports: JSON.stringify(transports), now };
    if ((yield* insertPasskey.run(row)) === 0) return { kind: 'known' };
    yield* recordOf(memberId, 'passkey.add', { passkey: row.id });
    return { kind: 'added' };
  },

  *findPasskey(credentialId) {
    const row = yield* passkeyByCredential.get({ credentialId });
    return row === undefined ? null : decodePasskey(row);
  },

  *renamePasskey(memberId, id, name) {
    return (yield* renamePasskey.run({ memberId, id, name })) === 1;
  },

  *removePasskey(memberId, id) {
    const ways = yield* logInOperations.logInMethods(memberId);
    if (ways === null || !ways.passkeys.some((one) => one.id === id)) return 'unknown';
    const { hasPassword, passkeys, identities } = ways;
    if (!hasPassword && passkeys.length + identities.length === 1) return 'last';
    yield* deletePasskey.run({ memberId, id });
    yield* recordOf(memberId, 'passkey.remove', { passkey: id });
    return 'removed';
  },

  *logInByPasskey({ passkeyId, counter, spent }, session, now) {
    if (!(yield* spend(spent, now))) return null;
    const memberId = yield* usePasskey.get({ passkeyId, counter, now });
    if (memberId === undefined) return null;
    const proof = { memberId, method: 'passkey', passwordHash: null } as const;
    return yield* sessionOperations.createSession({ ...session, ...proof }, now);
  },

  *logInByOidc(arrival, session, now) {
    if (!(yield* spend(arrival.spent, now))) return { kind: 'refused', reason: 'spent' };
    const { issuer, subject, email } = arrival;
    const known = yield* identityOwner.get({ issuer, subject });
    const owner = known === undefined ? undefined : yield* memberById.get({ id: known });
    if (owner !== undefined && owner.disabled_at !== null) {
      return { kind: 'refused', reason: 'disabled' };
    }
    const found = known ?? (yield* joinByOidc(arrival, now));
    if (typeof found === 'object') return found;
    yield* useIdentity.run({ issuer, subject, email, now });
    if (arrival.role !== null) yield* followClaim(found, arrival.role, now);
    const proof = { memberId: found, method: 'oidc', passwordHash: null } as const;
    const created = yield* sessionOperations.createSession({ ...session, ...proof }, now);
    if (created === null) return { kind: 'refused', reason: 'disabled' };
    return { kind: 'in', session: created, isNew: known === undefined };
  },

  *connectOidc({ memberId, issuer, subject, email, spent }, now) {
    if (!(yield* spend(spent, now))) return 'spent';
    const owner = yield* identityOwner.get({ issuer, subject });
    if (owner !== undefined) return owner === memberId ? 'connected' : 'taken';
    const own = yield* identitiesOf.all({ memberId });
    if (own.some((one) => one.issuer === issuer)) return 'other';
    yield* addIdentity({ memberId, issuer, subject, email }, now);
    return 'connected';
  },

  *disconnectOidc(memberId, issuer) {
    const ways = yield* logInOperations.logInMethods(memberId);
    if (ways === null || !ways.identities.some((one) => one.issuer === issuer)) return 'unknown';
    const { hasPassword, passkeys, identities } = ways;
    if (!hasPassword && passkeys.length + identities.length === 1) return 'last';
    yield* deleteIdentity.run({ memberId, issuer });
    yield* recordOf(memberId, 'oidc.disconnect', { issuer });
    return 'removed' satisfies Removed;
  },

  *createPasswordReset({ hash, memberId, expiresAt }, now) {
    const member = yield* memberById.get({ id: memberId });
    if (member === undefined || member.disabled_at !== null) return false;
    yield* forgetResets.run({ now });
    yield* endOpenResets.run({ memberId });
    yield* insertReset.run({ hash, memberId, now, expiresAt, usedAt: null });
    yield* recordOf(memberId, 'user.reset-link', { expiresAt });
    return true;
  },

  *resetPassword({ hash, passwordHash }, now) {
    const reset = yield* openReset.get({ hash, now });
    if (reset === undefined) return null;
    const { memberId, expiresAt } = reset;
    // Also deletes this link, and ends the sessions.
    yield* memberOperations.changeMember(memberId, { passwordHash }, now);
    yield* insertReset.run({ hash, memberId, now, expiresAt, usedAt: now });
    return { memberId };
  },

  *lastPasswordReset(memberId, now) {
    return (yield* lastReset.get({ memberId, since: now - TOLD_MS })) ?? null;
  },
};

// Challenges and states that count once.

const forgetSpent = statement<{ now: number }>(
  'delete from spent_challenges where expires_at <= @now',
);
const insertSpent = statement<SpentChallenge>(
  `insert into spent_challenges (hash, expires_at) values (@hash, @expiresAt)
   on conflict (hash) do nothing`,
);

/** False if it was used before, or has expired. */
function* spend(challenge: SpentChallenge, now: number): Operation<boolean> {
  if (challenge.expiresAt <= now) return false;
  yield* forgetSpent.run({ now });
  return (yield* insertSpent.run(challenge)) === 1;
}

// Passkeys.

interface PasskeyRow {
  id: string;
  member_id: string;
  name: string;
  credential_id: string;
  public_key: Uint8Array;
  counter: number;
  /** JSON. */
  transports: string;
  created_at: number;
  last_used_at: number | null;
}

const PASSKEY = `p.id, p.member_id, p.name, p.credential_id, p.public_key, p.counter,
  p.transports, p.created_at, p.last_used_at`;
const passkeysOf = statement<{ memberId: string }, PasskeyRow>(
  `select ${PASSKEY} from passkeys p where p.member_id = @memberId order by p.created_at, p.id`,
);
const passkeyByCredential = statement<{ credentialId: string }, PasskeyRow>(
  `select ${PASSKEY} from passkeys p join members m on m.id = p.member_id
   where p.credential_id = @credentialId and m.disabled_at is null`,
);
const capOfPasskeys = capOn('passkeys where member_id = @memberId');
const insertPasskey = statement(
  `insert into passkeys
     (id, member_id, name, credential_id, public_key, counter, transports, created_at)
   values (@id, @memberId, @name, @credentialId, @publicKey, @counter, @transports, @now)
   on conflict (credential_id) do nothing`,
);
const renamePasskey = statement<{ memberId: string; id: string; name: string }>(
  'update passkeys set name = @name where id = @id and member_id = @memberId',
);
const deletePasskey = statement<{ memberId: string; id: string }>(
  'delete from passkeys where id = @id and member_id = @memberId',
);
/** A copy of an authenticator that counts is noticed: its counter lags behind. */
const usePasskey = valueOf<{ passkeyId: string; counter: number; now: number }, string>(
  `update passkeys set counter = @counter, last_used_at = @now
   where id = @passkeyId and (counter < @counter or (counter = 0 and @counter = 0))
   returning member_id`,
);

function decodePasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    memberId: row.member_id,
    name: row.name,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports) as string[],
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

// Accounts of OpenID providers.

type Account = Pick<OidcArrival, 'issuer' | 'subject' | 'email'>;

const identityOwner = valueOf<Pick<Account, 'issuer' | 'subject'>, string>(
  'select member_id from oidc_identities where issuer = @issuer and subject = @subject',
);
const identitiesOf = statement<{ memberId: string }, OidcIdentity>(
  `select issuer, subject, email, created_at as "createdAt", last_used_at as "lastUsedAt"
   from oidc_identities where member_id = @memberId order by created_at, issuer`,
);
const insertIdentity = statement(
  `insert into oidc_identities (issuer, subject, member_id, email, created_at)
   values (@issuer, @subject, @memberId, @email, @now)`,
);
const useIdentity = statement<Account & { now: number }>(
  `update oidc_identities set last_used_at = @now, email = coalesce(@email, email)
   where issuer = @issuer and subject = @subject`,
);
const deleteIdentity = statement<{ memberId: string; issuer: string }>(
  'delete from oidc_identities where member_id = @memberId and issuer = @issuer',
);
const anyMember = statement('select 1 from members limit 1');
const otherAdmin = statement<{ id: string }>(
  `select 1 from members where role = 'admin' and disabled_at is null and id <> @id`,
);

function* addIdentity(
  { memberId, issuer, subject, email }: Account & { memberId: string },
  now: number,
): Operation<void> {
  yield* insertIdentity.run({ issuer, subject, memberId, email, now });
  yield* recordOf(memberId, 'oidc.connect', { issuer });
}

interface Refused {
  readonly kind: 'refused';
  readonly reason: OidcRefusal;
}

/** The id of the new member, with this account. */
function* joinByOidc(arrival: OidcArrival, now: number): Operation<string | Refused> {
  const created = yield* createByOidc(arrival, now);
  if (created.kind === 'refused') return created;
  if (created.kind === 'taken') return { kind: 'refused', reason: 'taken' };
  const { issuer, subject, email } = arrival;
  const memberId = created.value.id;
  yield* addIdentity({ memberId, issuer, subject, email }, now);
  return memberId;
}

function* createByOidc(arrival: OidcArrival, now: number): Operation<Created<Member> | Refused> {
  const { inviteHash: hash, isOfDomain, email } = arrival;
  if (hash !== null) {
    const accepted = yield* withFreeName(arrival.names, (name) =>
      inviteOperations.acceptInvite({ hash, name, passwordHash: null }, now),
    );
    return accepted.kind === 'refused' ? { kind: 'refused', reason: 'invite' } : accepted;
  }
  // The first member comes by the set-up link.
  const isOpen = isOfDomain && (yield* anyMember.get({})) !== undefined;
  if (!isOpen || email === null) return { kind: 'refused', reason: 'unknown' };
  return yield* withFreeName(arrival.names, (name) =>
    createMember({ email, name, role: 'member', passwordHash: null }, now),
  );
}

/** The outcome with the first name that is free, or of the last one. */
function* withFreeName<Outcome extends { readonly kind: string }>(
  names: readonly string[],
  create: (name: string) => Operation<Outcome | Created<Member>>,
): Operation<Outcome | Created<Member>> {
  for (const name of names.slice(0, -1)) {
    const outcome = yield* create(name);
    if (!('field' in outcome) || outcome.field !== 'name') return outcome;
  }
  return yield* create(names.at(-1) ?? '');
}

/** The last administrator who can log in stays one, whatever the claim says. */
function* followClaim(memberId: string, role: Role, now: number): Operation<void> {
  const isLast = role === 'member' && (yield* otherAdmin.get({ id: memberId })) === undefined;
  if (!isLast) yield* memberOperations.changeMember(memberId, { role }, now);
}

// Links for a new password.

/** How long a member is told. */
const TOLD_MS = 7 * 86_400_000;

const forgetResets = statement<{ now: number }>(
  `delete from password_resets where coalesce(used_at + ${TOLD_MS}, expires_at) <= @now`,
);
const endOpenResets = statement<{ memberId: string }>(
  'delete from password_resets where member_id = @memberId and used_at is null',
);
const insertReset = statement(
  `insert into password_resets (hash, member_id, created_at, expires_at, used_at)
   values (@hash, @memberId, @now, @expiresAt, @usedAt)`,
);
const openReset = statement<{ hash: string; now: number }, { memberId: string; expiresAt: number }>(
  `select r.member_id as "memberId", r.expires_at as "expiresAt"
   from password_resets r join members m on m.id = r.member_id
   where r.hash = @hash and r.used_at is null and r.expires_at > @now and m.disabled_at is null`,
);
const lastReset = valueOf<{ memberId: string; since: number }, number>(
  `select used_at from password_resets where member_id = @memberId and used_at > @since
   order by used_at desc limit 1`,
);

function* recordOf(memberId: string, action: string, after: object): Operation<void> {
  const member = yield* memberById.get({ id: memberId });
  if (member === undefined) return;
  yield* record({ action, subject: memberSubject(member), before: null, after: { ...after } });
}
