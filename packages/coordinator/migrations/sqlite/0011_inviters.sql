-- Which member made the invite; null where the command line did. While they are disabled it lets nobody
-- in, and it goes with them: else a member who is shut out comes back under another name.
alter table invites add column invited_by text references members (id) on delete cascade;

update invites set invited_by = (
  select m.id from audit_log a join members m on a.actor = 'member:' || m.id
  where a.action = 'invite.create' and a.subject_id = invites.id
);

create index invites_by_inviter on invites (invited_by);
