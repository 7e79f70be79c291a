/** Why what answers is no coordinator, or is one behind something that does not let links pass. */

/** In place of a link; the coordinator itself answers some of them while it is restarted. */
export function linkFault(status: number, location: string | null): string {
  const answered = `the coordinator answered ${status}`;
  if (status >= 300 && status < 400) return redirected(status, location);
  const hint = HINTS[status];
  return hint === undefined ? answered : `${answered}: ${hint}`;
}

/** Where somebody signs in to a network, everything is sent to their page. */
function redirected(status: number, location: string | null): string {
  const to = location === null ? '' : ` to ${location.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)}`;
  return (
    `its address redirects${to} (${status}). Write the address that it ends at, or sign in to ` +
    'the network that this machine is in'
  );
}

const HINTS: Readonly<Record<number, string>> = {
  200: 'something in between does not pass WebSockets on, or it is no coordinator',
  400: 'something in between does not pass WebSockets on',
  404: 'no coordinator is at that address. Write it without /v1',
  407: 'a proxy in between wants a log-in. This agent must reach the coordinator directly',
  502: 'the proxy before it does not reach it',
  504: 'the proxy before it does not reach it',
};
