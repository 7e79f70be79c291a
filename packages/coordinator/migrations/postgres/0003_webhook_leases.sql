-- Several coordinators send messages: one of them has each while it tries to deliver it. Null: none.
alter table webhook_deliveries add column leased_by plain_text;
alter table webhook_deliveries add column leased_until bigint;

create index webhook_deliveries_leased on webhook_deliveries (leased_until)
  where leased_until is not null;
