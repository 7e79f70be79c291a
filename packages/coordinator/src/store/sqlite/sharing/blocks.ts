import type { Database } from 'better-sqlite3';
import type { AuditSubject, Block } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import type { Operations } from '../engine/operations.js';

export type BlockOperations = Pick<Operations, 'blockMember' | 'unblockMember' | 'listBlocks'>;

export function blockOperations(database: Database, trail: AuditTrail): BlockOperations {
  // Nobody is kept from what is their own.
  const block = database.prepare(
    `insert into blocks
     select o.id, m.id, @now from members o, members m
     where o.id = @ownerId and m.id = @memberId and o.id <> m.id
     on conflict do nothing`,
  );
  const unblock = database.prepare(
    'delete from blocks where owner_id = @ownerId and member_id = @memberId',
  );
  const list = database.prepare<[], Block>(
    `select b.owner_id as ownerId, o.name as ownerName,
       b.member_id as memberId, m.name as memberName, b.created_at as createdAt
     from blocks b join members o on o.id = b.owner_id join members m on m.id = b.member_id
     order by b.created_at, b.owner_id, b.member_id`,
  );
  const people = database.prepare<object, { email: string; owner: string }>(
    `select m.email, o.name as owner from members m, members o
     where m.id = @memberId and o.id = @ownerId`,
  );
  return {
    blockMember: (ownerId, memberId, now) => {
      if (block.run({ ownerId, memberId, now }).changes === 0) return false;
      const { subject, owner } = about(ownerId, memberId);
      trail.record({ action: 'provider.block', subject, before: null, after: { owner } });
      return true;
    },
    unblockMember: (ownerId, memberId) => {
      if (unblock.run({ ownerId, memberId }).changes === 0) return false;
      const { subject, owner } = about(ownerId, memberId);
      trail.record({ action: 'provider.unblock', subject, before: { owner }, after: null });
      return true;
    },
    listBlocks: () => list.all(),
  };

  function about(ownerId: string, memberId: string): { subject: AuditSubject; owner: string } {
    const row = people.get({ ownerId, memberId });
    if (row === undefined) throw new Error(`${ownerId} or ${memberId} is not there`);
    return { subject: { kind: 'user', id: memberId, name: row.email }, owner: row.owner };
  }
}
