-- Several coordinators send messages: one of them has each while it tries to deliver it. Null: none.
alter table webhook_deliveries add column leased_by text;
alter table webhook_deliveries add column leased_until integer;

create index webhook_deliveries_leased on webhook_deliveries (leased_until)
  where leased_until is not null;
