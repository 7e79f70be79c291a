-- Of a call's tokens: whether their model server counted them.
alter table usage add column estimated integer not null default 0 check (estimated in (0, 1));
