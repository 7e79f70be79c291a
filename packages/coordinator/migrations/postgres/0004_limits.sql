-- What coordinators on one database lease of the limits of members, and wrong attempts to log in.
-- Unlogged: a crash of the server forgets them, as a restart of the only coordinator does, and no
-- lease waits for the disk.

create unlogged table limit_leases (
  -- The kind of limit, and whose it is: 'rate <member>', 'log-in account <hash>'.
  subject plain_text primary key,
  -- JSON; null between the creation of the row and its first use.
  state json_text,
  -- Unix ms. A row that is older than this counts for nothing.
  expires_at bigint not null
) with (fillfactor = 50);
