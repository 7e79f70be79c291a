import type { Database } from 'better-sqlite3';
import type { AuditTrail } from '../engine/audit-trail.js';
import { decodeKey, keyFinder, keySubject, presentKey } from './key-rows.js';
import type { KeyRow } from './key-rows.js';
import type { Operations } from '../engine/operations.js';

export type KeyChanges = Pick<Operations, 'renameKey' | 'rotateKey' | 'setKeyState'>;

/**
 * What becomes of a key that exists; a revoked one stays as it is, whatever arrives after. Only
 * this connection writes, and an operation runs without a pause: the key that is read is the one
 * that is changed.
 */
export function keyChanges(database: Database, trail: AuditTrail): KeyChanges {
  const find = keyFinder(database);
  const live = (id: string): KeyRow | null => {
    const row = find(id);
    return row === undefined || row.revoked_at !== null ? null : row;
  };
  return {
    renameKey: renamer(database, trail, live),
    rotateKey: rotator(database, trail, live),
    setKeyState: stateSetter(database, trail, live),
  };
}

type FindLive = (id: string) => KeyRow | null;

function renamer(database: Database, trail: AuditTrail, find: FindLive): Operations['renameKey'] {
  const rename = database.prepare(
    `update api_keys set name = @name where id = @id and not exists (
       select 1 from api_keys as other where other.member_id = @memberId and other.name = @name
         and other.revoked_at is null and other.id <> @id)`,
  );
  return (id, name) => {
    const row = find(id);
    if (row === null) return { kind: 'unknown' };
    if (rename.run({ id, name, memberId: row.member_id }).changes === 0) {
      return { kind: 'taken', field: 'name' };
    }
    const [before, after] = [{ name: row.name }, { name }];
    trail.recordChange({ action: 'key.rename', subject: keySubject(row), before, after });
    return { kind: 'changed', value: decodeKey({ ...row, name }) };
  };
}

function rotator(database: Database, trail: AuditTrail, find: FindLive): Operations['rotateKey'] {
  const rotate = database.prepare<object>(
    `update api_keys set
       prefix = @prefix, hash = @hash,
       previous_hash = @previousHash, previous_until = @previousUntil
     where id = @id`,
  );
  const reread = keyFinder(database);
  return (id, rotation, now) => {
    const row = find(id);
    if (row === null) return null;
    const { prefix, hash } = rotation;
    const overlaps = rotation.previousUntil > now;
    const previousUntil = overlaps ? rotation.previousUntil : null;
    rotate.run({ id, prefix, hash, previousHash: overlaps ? row.hash : null, previousUntil });
    const [before, after] = [{ prefix: row.prefix }, { prefix, previousUntil }];
    trail.record({ action: 'key.rotate', subject: keySubject(row), before, after });
    return decodeKey(presentKey(reread(id)));
  };
}

const STATE_CHANGES = {
  disabled: { action: 'key.disable', field: 'disabled', is: true },
  enabled: { action: 'key.enable', field: 'disabled', is: false },
  revoked: { action: 'key.revoke', field: 'revoked', is: true },
} as const;

function stateSetter(
  database: Database,
  trail: AuditTrail,
  find: FindLive,
): Operations['setKeyState'] {
  const set = {
    disabled: database.prepare(
      'update api_keys set disabled_at = coalesce(disabled_at, @now) where id = @id',
    ),
    enabled: database.prepare('update api_keys set disabled_at = null where id = @id'),
    revoked: database.prepare('update api_keys set revoked_at = @now where id = @id'),
  };
  return (id, state, now) => {
    const row = find(id);
    if (row === null) return false;
    set[state].run(state === 'enabled' ? { id } : { id, now });
    const { action, field, is } = STATE_CHANGES[state];
    const was = field === 'disabled' && row.disabled_at !== null;
    const [before, after] = [{ [field]: was }, { [field]: is }];
    trail.recordChange({ action, subject: keySubject(row), before, after });
    return true;
  };
}
