import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import { MAX_PENDING_DEVICES, MAX_WRONG_CODES } from '../../core/device-limits.js';
import type {
  AuditSubject,
  CollectedDevice,
  DeviceLogin,
  FoundDevice,
  WrongCode,
} from '../port.js';
import type { AuditTrail } from './audit-trail.js';
import type { Operations } from './operations.js';
import { enrolmentRecorder, providerRegistrar } from './register-provider.js';

type DeviceOperations = Pick<
  Operations,
  'createDevice' | 'listDevices' | 'findDevice' | 'approveDevice' | 'denyDevice' | 'collectDevice'
>;

/** For whoever asks what became of a code. */
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

const SELECT = `select d.*, m.name as owner_name, m.disabled_at as owner_disabled_at
  from device_logins d left join members m on m.id = d.owner_id`;
const WAITS = "state = 'pending' and expires_at > @now";

/**
 * Only this connection writes, and an operation runs without a pause: what one reads still holds
 * where it writes.
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
  const insert = database.prepare<object>(
    `insert into device_logins
       (id, device_hash, user_code, name, host, address, created_at, expires_at)
     select @id, @deviceHash, @userCode, @name, @host, @address, @now, @expiresAt
     where (select count(*) from device_logins where ${WAITS}) < ${MAX_PENDING_DEVICES}
     on conflict (user_code) where state = 'pending' do nothing`,
  );
  const find = database.prepare<[string], Row>(`${SELECT} where d.id = ?`);
  return (login, now) => {
    const id = ulid(now);
    forgetPast.run(now - KEPT_AFTER_MS);
    insert.run({ ...login, id, now });
    const row = find.get(id);
    return row === undefined ? null : decode(row);
  };
}

/** Of several of one code, the one that waits, else the newest. A code that nobody has counts. */
function finder(database: Database, trail: AuditTrail): Operations['findDevice'] {
  const find = database.prepare<[string], Row>(
    `${SELECT} where d.user_code = ? order by d.state = 'pending' desc, d.created_at desc limit 1`,
  );
  const countWrong = wrongCounter(database, trail);
  return (userCode, now): FoundDevice => {
    const row = find.get(userCode);
    if (row === undefined) return countWrong(now);
    return { kind: isPending(row, now) ? 'pending' : 'over', value: decode(row) };
  };
}

function wrongCounter(database: Database, trail: AuditTrail): (now: number) => WrongCode {
  const count = database.prepare<{ now: number }, Row>(
    `update device_logins set wrong_tries = wrong_tries + 1,
       state = iif(wrong_tries + 1 >= ${MAX_WRONG_CODES}, 'denied', state)
     where ${WAITS} returning *`,
  );
  return (now) => {
    const rows = count.all({ now });
    const ended = rows.filter(({ state }) => state === 'denied');
    for (const row of ended) {
      const [before, after] = [asked(row), { wrongCodes: row.wrong_tries }];
      trail.record({ action: 'device.deny', subject: subjectOf(row), before, after });
    }
    const left = rows.filter(({ state }) => state === 'pending');
    const tries = left.map(({ wrong_tries }) => MAX_WRONG_CODES - wrong_tries);
    const triesLeft = left.length === 0 ? 0 : Math.min(...tries);
    return { kind: 'wrong', waiting: rows.length, ended: ended.length, triesLeft };
  };
}

function approver(database: Database, trail: AuditTrail): Operations['approveDevice'] {
  const find = finder(database, trail);
  const nameTaken = database.prepare(
    'select 1 from providers where owner_id = @ownerId and name = @name',
  );
  const approve = database.prepare<object, Row>(
    `update device_logins
     set state = 'approved', owner_id = @ownerId, approves_provider = @approvesProvider
     where id = @id returning *, (select name from members where id = @ownerId) as owner_name`,
  );
  return ({ userCode, ownerId, approvesProvider }, now) => {
    const found = find(userCode, now);
    if (found.kind !== 'pending') return found;
    const { id, name } = found.value;
    if (name !== null && nameTaken.get({ ownerId, name }) !== undefined) {
      return { kind: 'taken', field: 'name' };
    }
    const row = approve.get({ id, ownerId, approvesProvider: approvesProvider ? 1 : 0 });
    if (row === undefined) throw new Error(`the log-in ${id} was gone while it was approved`);
    const after = { ...asked(row), owner: row.owner_name };
    trail.record({ action: 'device.approve', subject: subjectOf(row), before: null, after });
    return { kind: 'changed', value: decode(row) };
  };
}

function denier(database: Database, trail: AuditTrail): Operations['denyDevice'] {
  const find = finder(database, trail);
  const deny = database.prepare<[string], Row>(
    "update device_logins set state = 'denied' where id = ? returning *",
  );
  return (userCode, now) => {
    const found = find(userCode, now);
    if (found.kind !== 'pending') return found;
    const row = deny.get(found.value.id);
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

/** Null where its provider can be registered. */
function outcomeOf(
  row: Row | undefined,
  now: number,
): Exclude<CollectedDevice, { kind: 'created' | 'taken' }> | null {
  if (row === undefined) return { kind: 'refused', reason: 'unknown' };
  if (row.state === 'done') return { kind: 'refused', reason: 'used' };
  if (row.state === 'denied') {
    const isGuessed = row.wrong_tries >= MAX_WRONG_CODES;
    return { kind: 'refused', reason: isGuessed ? 'guessed' : 'denied' };
  }
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

/** Who asked, as far as that is known. */
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
