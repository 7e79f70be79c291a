import { ulid } from '@inference-gateway/shared/ids';
import { isLoopback } from '@inference-gateway/shared/loopback';
import { addressGroup, addressNetwork } from '../../../core/access/address-group.js';
import {
  CODE_LOCK_OUT_MS,
  mayWait,
  MAX_WRONG_CODES,
  MAX_WRONG_CODES_AN_ADDRESS,
} from '../../../core/access/log-in-throttle.js';
import type {
  AuditSubject,
  CollectedDevice,
  DeviceLogin,
  FoundDevice,
  LockedOut,
  TypedCode,
  WrongCode,
} from '../../port.js';
import { record } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { lock, statement, together, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { recordEnrolment, registerProvider } from './register-provider.js';

type DeviceOperations = Pick<
  Operations,
  'createDevice' | 'listDevices' | 'findDevice' | 'approveDevice' | 'denyDevice' | 'collectDevice'
>;

/** Log-ins are kept for this long after they expire, so that their outcome can still be read. */
const KEPT_AFTER_MS = 3_600_000;

interface Row {
  id: string;
  user_code: string;
  name: string | null;
  host: string | null;
  address: string;
  created_at: number;
  expires_at: number;
  wrong_tries: number;
  state: DeviceLogin['state'];
  owner_id: string | null;
  owner_name: string | null;
  owner_disabled_at: number | null;
  approves_provider: 0 | 1;
  provider_id: string | null;
}

const SELECT = `select d.id, d.user_code, d.name, d.host, d.address, d.created_at, d.expires_at,
    d.wrong_tries, d.state, d.owner_id, d.approves_provider, d.provider_id,
    m.name as owner_name, m.disabled_at as owner_disabled_at
  from device_logins d left join members m on m.id = d.owner_id`;
const WAITS = "state = 'pending' and expires_at > @now";

const list = statement<{ now: number }, Row>(
  `${SELECT} where d.${WAITS} order by d.created_at, d.rowid`,
);
const findById = statement<{ id: string }, Row>(`${SELECT} where d.id = @id`);
const forgetPast = statement<{ before: number }>(
  'delete from device_logins where expires_at <= @before',
);
const addressesWaiting = valueOf<{ now: number }, string>(
  `select address from device_logins where ${WAITS}`,
);
const insert = statement(
  `insert into device_logins
     (id, device_hash, user_code, name, host, address, created_at, expires_at)
   values (@id, @deviceHash, @userCode, @name, @host, @address, @now, @expiresAt)
   on conflict (user_code) where state = 'pending' do nothing`,
);
const nameTaken = statement<{ ownerId: string; name: string }>(
  'select 1 from providers where owner_id = @ownerId and name = @name',
);
const approve = statement<{ id: string; ownerId: string; approvesProvider: 0 | 1 }>(
  `update device_logins
   set state = 'approved', owner_id = @ownerId, approves_provider = @approvesProvider
   where id = @id`,
);
const deny = statement<{ id: string }>("update device_logins set state = 'denied' where id = @id");
const findByHash = statement<{ deviceHash: string }, Row>(
  `${SELECT} where d.device_hash = @deviceHash`,
);
const end = statement<{ id: string; providerId: string }>(
  "update device_logins set state = 'done', provider_id = @providerId where id = @id",
);

/**
 * Strangers ask for log-ins, many at a time, and each decides by the log-ins and guesses of all:
 * they wait for each other, because transactions that collide would be repeated again and again.
 */
function lockDevices(): Operation<void> {
  return lock('log-ins of devices');
}

export const deviceOperations: DeviceOperations = {
  *createDevice(login, now) {
    const id = ulid(now);
    const network = addressNetwork(login.address);
    const [, , all] = yield* together([
      lockDevices(),
      forgetPast.run({ before: now - KEPT_AFTER_MS }),
      addressesWaiting.all({ now }),
    ]);
    const own = all.filter((address) => addressNetwork(address) === network);
    if (!mayWait({ own: own.length, all: all.length })) return null;
    yield* insert.run({ ...login, id, now });
    const row = yield* findById.get({ id });
    return row === undefined ? null : decode(row);
  },

  *listDevices(now) {
    return (yield* list.all({ now })).map(decode);
  },

  findDevice,

  *approveDevice({ ownerId, approvesProvider, ...typed }, now) {
    const found = yield* findDevice(typed, now);
    if (found.kind !== 'pending') return found;
    const { id, name } = found.value;
    if (name !== null && (yield* nameTaken.get({ ownerId, name })) !== undefined) {
      return { kind: 'taken', field: 'name' };
    }
    yield* approve.run({ id, ownerId, approvesProvider: approvesProvider ? 1 : 0 });
    const row = yield* findById.get({ id });
    if (row === undefined) throw new Error(`the log-in ${id} was gone while it was approved`);
    const after = { ...asked(row), owner: row.owner_name };
    yield* record({ action: 'device.approve', subject: subjectOf(row), before: null, after });
    return { kind: 'changed', value: decode(row) };
  },

  *denyDevice(typed, now) {
    const found = yield* findDevice(typed, now);
    if (found.kind !== 'pending') return found;
    const { id } = found.value;
    yield* deny.run({ id });
    const row = yield* findById.get({ id });
    if (row === undefined) throw new Error(`the log-in ${id} was gone`);
    const [subject, before] = [subjectOf(row), asked(row)];
    yield* record({ action: 'device.deny', subject, before, after: null });
    return { kind: 'changed', value: decode(row) };
  },

  *collectDevice({ deviceHash, tokenHash, approved }, now) {
    yield* lockDevices();
    const row = yield* findByHash.get({ deviceHash });
    const outcome = outcomeOf(row, now);
    if (row === undefined || outcome !== null) {
      return outcome ?? { kind: 'refused', reason: 'unknown' };
    }
    const { name, owner_id: ownerId, owner_name: ownerName } = row;
    if (ownerId === null || ownerName === null) throw new Error(`${row.id} is approved of nobody`);
    const isApproved = approved || row.approves_provider === 1;
    const newcomer = { ownerId, ownerName, name, tokenHash, approved: isApproved };
    const providerId = yield* registerProvider(newcomer, now);
    if (providerId === null) return { kind: 'taken', field: 'name' };
    yield* end.run({ id: row.id, providerId });
    return { kind: 'created', value: yield* recordEnrolment(providerId, false) };
  },
};

interface Guess extends TypedCode {
  readonly actor: string;
}

const findByCode = statement<{ userCode: string }, Row>(
  `${SELECT} where d.user_code = @userCode
   order by d.state = 'pending' desc, d.created_at desc limit 1`,
);

/**
 * If several log-ins have the code, the pending one, else the newest. An unknown code is counted.
 * During a lock-out the answer does not depend on whether the code exists.
 */
function* findDevice(typed: Guess, now: number): Operation<FoundDevice> {
  yield* lockDevices();
  const locked = yield* lockOut(typed, now);
  if (locked !== null) return locked;
  const row = yield* findByCode.get({ userCode: typed.userCode });
  if (row === undefined) return yield* countWrongCode(typed, now);
  return { kind: isPending(row, now) ? 'pending' : 'over', value: decode(row) };
}

/** Wrong codes are counted in the database: a restart does not reset the counts. */
interface Guesses {
  readonly wrong_tries: number;
  readonly last_at: number;
}

/**
 * The account or address that wrong codes are counted against, with its subject in the audit log.
 */
interface Guesser {
  readonly subject: AuditSubject;
  readonly maxWrongCodes: number;
}

// A time in the future was written before the clock was set back.
const findGuesses = statement<{ guesser: string; since: number; now: number }, Guesses>(
  `select wrong_tries, last_at from device_guesses
   where guesser = @guesser and last_at > @since and last_at <= @now`,
);

function* lockOut(typed: Guess, now: number): Operation<LockedOut | null> {
  const since = now - CODE_LOCK_OUT_MS;
  let retryAfterMs = 0;
  for (const { subject, maxWrongCodes } of yield* guessersOf(typed)) {
    const guesses = yield* findGuesses.get({ guesser: keyOf(subject), since, now });
    if (guesses === undefined || guesses.wrong_tries < maxWrongCodes) continue;
    retryAfterMs = Math.max(retryAfterMs, guesses.last_at + CODE_LOCK_OUT_MS - now);
  }
  return retryAfterMs > 0 ? { kind: 'locked', retryAfterMs } : null;
}

const forgetGuesses = statement<{ since: number; now: number }>(
  'delete from device_guesses where last_at <= @since or last_at > @now',
);
const countGuess = valueOf<{ guesser: string; now: number }, number>(
  `insert into device_guesses (guesser, wrong_tries, last_at) values (@guesser, 1, @now)
   on conflict (guesser) do update
     set wrong_tries = device_guesses.wrong_tries + 1, last_at = excluded.last_at
   returning wrong_tries`,
);
const countOnLogins = statement<{ now: number }>(
  `update device_logins set wrong_tries = wrong_tries + 1 where ${WAITS}`,
);

function* countWrongCode(typed: Guess, now: number): Operation<WrongCode> {
  yield* forgetGuesses.run({ since: now - CODE_LOCK_OUT_MS, now });
  const left: number[] = [];
  for (const { subject, maxWrongCodes } of yield* guessersOf(typed)) {
    const wrongCodes = (yield* countGuess.get({ guesser: keyOf(subject), now })) ?? 0;
    if (wrongCodes >= maxWrongCodes) {
      const after = { wrongCodes, lockedOutS: CODE_LOCK_OUT_MS / 1_000 };
      yield* record({ action: 'device.lockout', subject, before: null, after });
    }
    left.push(Math.max(0, maxWrongCodes - wrongCodes));
  }
  const waiting = yield* countOnLogins.run({ now });
  return { kind: 'wrong', waiting, triesLeft: Math.min(...left) };
}

function* guessersOf({ address, actor }: Guess): Operation<readonly Guesser[]> {
  const account = { subject: yield* accountOf(actor), maxWrongCodes: MAX_WRONG_CODES };
  if (address === null) return [account];
  const id = addressGroup(address);
  if (address === '::1' || isLoopback(id)) return [account];
  const subject = { kind: 'address', id, name: id };
  return [account, { subject, maxWrongCodes: MAX_WRONG_CODES_AN_ADDRESS }];
}

const memberName = valueOf<{ id: string }, string>('select name from members where id = @id');

function* accountOf(actor: string): Operation<AuditSubject> {
  const [, id = ''] = /^member:(.*)$/.exec(actor) ?? [];
  const name = yield* memberName.get({ id });
  if (name === undefined) return { kind: 'actor', id: actor, name: actor };
  return { kind: 'user', id, name };
}

function keyOf({ kind, id }: AuditSubject): string {
  return `${kind}:${id}`;
}

/** Null if its provider can be registered. */
function outcomeOf(
  row: Row | undefined,
  now: number,
): Exclude<CollectedDevice, { kind: 'created' | 'taken' }> | null {
  if (row === undefined) return { kind: 'refused', reason: 'unknown' };
  if (row.state === 'done') return { kind: 'refused', reason: 'used' };
  if (row.state === 'denied') return { kind: 'refused', reason: 'denied' };
  if (row.expires_at <= now) return { kind: 'refused', reason: 'expired' };
  if (row.state === 'pending') return { kind: 'waiting' };
  const isShut = row.owner_disabled_at !== null;
  return isShut ? { kind: 'refused', reason: 'of a disabled member' } : null;
}

function isPending({ state, expires_at: expiresAt }: Row, now: number): boolean {
  return state === 'pending' && expiresAt > now;
}

function subjectOf({ id, name, host, address }: Row): AuditSubject {
  return { kind: 'device', id, name: name ?? host ?? address };
}

/** The host name and the address of the request, for the audit log. */
function asked({ host, address }: Row) {
  return { host, address };
}

function decode(row: Row): DeviceLogin {
  return {
    id: row.id,
    userCode: row.user_code,
    name: row.name,
    host: row.host,
    address: row.address,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    wrongTries: row.wrong_tries,
    state: row.state,
    ownerId: row.owner_id,
    providerId: row.provider_id,
  };
}
