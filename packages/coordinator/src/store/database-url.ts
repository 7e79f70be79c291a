/** URLs of databases on PostgreSQL. */

const POSTGRES_PROTOCOLS = ['postgres:', 'postgresql:'];

/** Null unless it names a host, or a socket's folder, and a database. */
export function parseDatabaseUrl(written: string): string | null {
  if (!URL.canParse(written)) return null;
  const { protocol, pathname, searchParams, host } = new URL(written);
  const hasHost = host !== '' || searchParams.has('host');
  const isWhole = POSTGRES_PROTOCOLS.includes(protocol) && hasHost && pathname.length > 1;
  return isWhole ? written : null;
}

/** Of a URL in an argument of this name; null if there is none. */
export function passwordFault(url: string, option: '--database' | '--to'): string | null {
  const { password, searchParams } = new URL(url);
  if (password === '' && !searchParams.has('password')) return null;
  return (
    `${option} has a password, which every user of this machine can see: leave it out of the ` +
    'URL, and set GATEWAY_DATABASE_URL or GATEWAY_DATABASE_URL_FILE instead.'
  );
}

/** For messages and logs. */
export function withoutPassword(url: string): string {
  const { username, host, pathname } = new URL(url);
  return `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
