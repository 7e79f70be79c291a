-- What coordinators on one database lease of the limits of members, and wrong attempts to log in.
-- One coordinator on SQLite keeps them in its memory, and has no rows here.

create table limit_leases (
  -- The kind of limit, and whose it is: 'rate <member>', 'log-in account <hash>'.
  subject text primary key,
  -- JSON; null between the creation of the row and its first use.
  state text check (state is null or json_valid(state)),
  -- Unix ms. A row that is older than this counts for nothing.
  expires_at integer not null
) strict, without rowid;
