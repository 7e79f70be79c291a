/** What a browser is told to refuse for the pages of the dashboard, whatever gets into them. */

const POLICY = [
  "default-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
];

/** Recording for a transcription is all that a page asks of the machine it is shown on. */
const PERMISSIONS = ['microphone=(self)'].concat(
  ['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid']
    .concat(['magnetometer', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking'])
    .map((feature) => `${feature}=()`),
);

const HSTS_S = 31_536_000;

/** `ownOrigins` are those that the gateway is reached at. */
export function pageHeaders(ownOrigins: readonly string[]): Readonly<Record<string, string>> {
  const isSecure = ownOrigins.some((origin) => origin.startsWith('https:'));
  return {
    'Content-Security-Policy': [...POLICY, connections(ownOrigins)].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': PERMISSIONS.join(', '),
    // A browser heeds it over https alone.
    ...(isSecure && { 'Strict-Transport-Security': `max-age=${HSTS_S}` }),
  };
}

/** To Safari before 15.4, `'self'` is no WebSocket of one's own origin. */
function connections(ownOrigins: readonly string[]): string {
  const sockets = ownOrigins.map((origin) => new URL(origin).origin.replace(/^http/, 'ws'));
  return ["connect-src 'self'", ...sockets].join(' ');
}
