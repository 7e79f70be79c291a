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

export function hasPassword(url: string): boolean {
  const { password, searchParams } = new URL(url);
  return password !== '' || searchParams.has('password');
}

/** For messages and logs. */
export function withoutPassword(url: string): string {
  const { username, host, pathname } = new URL(url);
  return `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
