-- Who is deleted is named nowhere any more, and entries may have a retention: both are operations
-- of the store, which open the log in their own transaction and close it again.
create table audit_upkeep (
  id integer primary key check (id = 1),
  is_open integer not null check (is_open in (0, 1))
) strict;

insert into audit_upkeep values (1, 0);

drop trigger audit_log_is_append_only;
drop trigger audit_log_keeps_all;

create trigger audit_log_is_append_only before update on audit_log
  when (select is_open from audit_upkeep) = 0 begin
  select raise(abort, 'the audit log is append-only');
end;
create trigger audit_log_keeps_all before delete on audit_log
  when (select is_open from audit_upkeep) = 0 begin
  select raise(abort, 'the audit log is append-only');
end;
