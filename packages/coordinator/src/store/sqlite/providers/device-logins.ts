import { ulid } from '@inference-gateway/shared/ids';
import { isLoopback } from '@inference-gateway/shared/loopback';
import type { Database } from 'better-sqlite3';
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
import type { AuditTrail } from '../engine/audit-trail.js';
import type { Operations } from '../engine/operations.js';
import { enrolmentRecorder, providerRegistrar } from './register-provider.js';

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

/**
 * Only this connection writes, and an operation runs synchronously, so what it reads still holds
 * when it writes.
 */
export function deviceOperations(database: Database, trail: AuditTrail): DeviceOperations {
  const list = database.prepare<{ now: number }, Row>(
    `${SELECT} where d.${WAITS} order by d.created_at, d.rowid`,
  );
  return {
    createDevice: creator(database),
    listDevices: (now) => list.all({ now }).map(decode),
    findDevice: finder(database, trail),
    approveDevice: approver(database, trail),
    denyDevice: denier(database, trail),
    collectDevice: collector(database, trail),
  };
}

function creator(database: Database): Operations['createDevice'] {
  const forgetPast = database.prepare('delete from device_logins where expires_at <= ?');
  const waiting = database.prepare<object, { address: string }>(
    `select address from device_logins where ${WAITS}`,
  );
  const insert = database.prepare<object>(
    `insert into device_logins
       (id, device_hash, user_code, name, host, address, created_at, expires_at)
     values (@id, @deviceHash, @userCode, @name, @host, @address, @now, @expiresAt)
     on conflict (user_code) where state = 'pending' do nothing`,
  );
  const find = database.prepare<[string], Row>(`${SELECT} where d.id = ?`);
  return (login, now) => {
    const id = ulid(now);
    forgetPast.run(now - KEPT_AFTER_MS);
    const network = addressNetwork(login.address);
    const all = waiting.all({ now });
    const own = all.filter(({ address }) => addressNetwork(address) === network);
    if (!mayWait({ own: own.length, all: all.length })) return null;
    insert.run({ ...login, id, now });
    const row = find.get(id);
    return row === undefined ? null : decode(row);
  };
}

/**
 * If several log-ins have the code, the pending one, else the newest. An unknown code is counted.
 * During a lock-out the answer does not depend on whether the code exists.
 */
function finder(database: Database, trail: AuditTrail): Operations['findDevice'] {
  const find = database.prepare<[string], Row>(
    `${SELECT} where d.user_code = ? order by d.state = 'pending' desc, d.created_at desc limit 1`,
  );
  const guesses = new WrongCodes(database, trail);
  return (typed, now): FoundDevice => {
    const locked = guesses.lockOut(typed, now);
    if (locked !== null) return locked;
    const row = find.get(typed.userCode);
    if (row === undefined) return guesses.count(typed, now);
    return { kind: isPending(row, now) ? 'pending' : 'over', value: decode(row) };
  };
}

interface Guess extends TypedCode {
  readonly actor: string;
}

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

/** The counts of wrong codes, in the database: a restart does not reset them. */
class WrongCodes {
  readonly #trail: AuditTrail;
  readonly #find;
  readonly #forgetPast;
  readonly #count;
  readonly #countOnLogins;
  readonly #findMember;

  constructor(database: Database, trail: AuditTrail) {
    this.#trail = trail;
    // A time in the future was written before the clock was set back.
    this.#find = database.prepare<object, Guesses>(
      `select wrong_tries, last_at from device_guesses
       where guesser = @guesser and last_at > @now - ${CODE_LOCK_OUT_MS} and last_at <= @now`,
    );
    this.#forgetPast = database.prepare<object>(
      `delete from device_guesses where last_at <= @now - ${CODE_LOCK_OUT_MS} or last_at > @now`,
    );
    this.#count = database.prepare<object, Guesses>(
      `insert into device_guesses (guesser, wrong_tries, last_at) values (@guesser, 1, @now)
       on conflict do update set wrong_tries = wrong_tries + 1, last_at = @now
       returning wrong_tries, last_at`,
    );
    this.#countOnLogins = database.prepare<object>(
      `update device_logins set wrong_tries = wrong_tries + 1 where ${WAITS}`,
    );
    this.#findMember = database.prepare<[string], { name: string }>(
      'select name from members where id = ?',
    );
  }

  lockOut(typed: Guess, now: number): LockedOut | null {
    const waits = this.#guessersOf(typed).map(({ subject, maxWrongCodes }) => {
      const guesses = this.#find.get({ guesser: keyOf(subject), now });
      if (guesses === undefined || guesses.wrong_tries < maxWrongCodes) return 0;
      return guesses.last_at + CODE_LOCK_OUT_MS - now;
    });
    const retryAfterMs = Math.max(...waits);
    return retryAfterMs > 0 ? { kind: 'locked', retryAfterMs } : null;
  }

  count(typed: Guess, now: number): WrongCode {
    this.#forgetPast.run({ now });
    const left = this.#guessersOf(typed).map(({ subject, maxWrongCodes }) => {
      const wrongCodes = this.#count.get({ guesser: keyOf(subject), now })?.wrong_tries ?? 0;
      if (wrongCodes >= maxWrongCodes) {
        const after = { wrongCodes, lockedOutS: CODE_LOCK_OUT_MS / 1_000 };
        this.#trail.record({ action: 'device.lockout', subject, before: null, after });
      }
      return Math.max(0, maxWrongCodes - wrongCodes);
    });
    const waiting = this.#countOnLogins.run({ now }).changes;
    return { kind: 'wrong', waiting, triesLeft: Math.min(...left) };
  }

  #guessersOf({ address, actor }: Guess): readonly Guesser[] {
    const account = { subject: this.#subjectOf(actor), maxWrongCodes: MAX_WRONG_CODES };
    if (address === null) return [account];
    const id = addressGroup(address);
    if (address === '::1' || isLoopback(id)) return [account];
    const subject = { kind: 'address', id, name: id };
    return [account, { subject, maxWrongCodes: MAX_WRONG_CODES_AN_ADDRESS }];
  }

  #subjectOf(actor: string): AuditSubject {
    const [, memberId = ''] = /^member:(.*)$/.exec(actor) ?? [];
    const member = this.#findMember.get(memberId);
    if (member !== undefined) return { kind: 'user', id: memberId, name: member.name };
    return { kind: 'actor', id: actor, name: actor };
  }
}

function keyOf({ kind, id }: AuditSubject): string {
  return `${kind}:${id}`;
}

function approver(database: Database, trail: AuditTrail): Operations['approveDevice'] {
  const find = finder(database, trail);
  const nameTaken = database.prepare(
    'select 1 from providers where owner_id = @ownerId and name = @name',
  );
  const approve = database.prepare<object>(
    `update device_logins
     set state = 'approved', owner_id = @ownerId, approves_provider = @approvesProvider
     where id = @id`,
  );
  const byId = database.prepare<[string], Row>(`${SELECT} where d.id = ?`);
  return ({ ownerId, approvesProvider, ...typed }, now) => {
    const found = find(typed, now);
    if (found.kind !== 'pending') return found;
    const { id, name } = found.value;
    if (name !== null && nameTaken.get({ ownerId, name }) !== undefined) {
      return { kind: 'taken', field: 'name' };
    }
    approve.run({ id, ownerId, approvesProvider: approvesProvider ? 1 : 0 });
    const row = byId.get(id);
    if (row === undefined) throw new Error(`the log-in ${id} was gone while it was approved`);
    const after = { ...asked(row), owner: row.owner_name };
    trail.record({ action: 'device.approve', subject: subjectOf(row), before: null, after });
    return { kind: 'changed', value: decode(row) };
  };
}

function denier(database: Database, trail: AuditTrail): Operations['denyDevice'] {
  const find = finder(database, trail);
  const deny = database.prepare("update device_logins set state = 'denied' where id = ?");
  const byId = database.prepare<[string], Row>(`${SELECT} where d.id = ?`);
  return (typed, now) => {
    const found = find(typed, now);
    if (found.kind !== 'pending') return found;
    deny.run(found.value.id);
    const row = byId.get(found.value.id);
    if (row === undefined) throw new Error(`the log-in ${found.value.id} was gone`);
    const [subject, before] = [subjectOf(row), asked(row)];
    trail.record({ action: 'device.deny', subject, before, after: null });
    return { kind: 'changed', value: decode(row) };
  };
}

function collector(database: Database, trail: AuditTrail): Operations['collectDevice'] {
  const find = database.prepare<[string], Row>(`${SELECT} where d.device_hash = ?`);
  const register = providerRegistrar(database);
  const recordEnrolment = enrolmentRecorder(database, trail);
  const end = database.prepare(
    "update device_logins set state = 'done', provider_id = @providerId where id = @id",
  );
  return ({ deviceHash, tokenHash, approved }, now): CollectedDevice => {
    const row = find.get(deviceHash);
    const outcome = outcomeOf(row, now);
    if (row === undefined || outcome !== null) {
      return outcome ?? { kind: 'refused', reason: 'unknown' };
    }
    const { name, owner_id: ownerId, owner_name: ownerName } = row;
    if (ownerId === null || ownerName === null) throw new Error(`${row.id} is approved of nobody`);
    const isApproved = approved || row.approves_provider === 1;
    const newcomer = { ownerId, ownerName, name, tokenHash, approved: isApproved };
    const providerId = register(newcomer, now);
    if (providerId === null) return { kind: 'taken', field: 'name' };
    end.run({ id: row.id, providerId });
    return { kind: 'created', value: recordEnrolment(providerId, false) };
  };
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
