/**
 * The dashboard: its hashed files with unlimited caching, and its page at every path that a browser
 * may open, so that links and reloads work. Programs are answered as if it did not exist.
 */
import type { ConsoleSessions } from '../accounts/browser-sessions.js';
import type { Context, Middleware } from '../edge/context.js';
import { isHeld } from '../edge/entity-tags.js';
import { INDEX } from './web-files.js';
import type { WebFile, WebFiles } from './web-files.js';

const HASHED = '/assets/';

const FOR_EVER = 'public, max-age=31536000, immutable';

/** Cached, but revalidated each time. */
const CHECKED = 'no-cache';

/** Paths of programs, which are never a page, even in a browser. */
const PROGRAMS = ['/api', '/v1', '/agent', '/assets', '/healthz', '/readyz', '/metrics'].concat(
  '/openapi.json',
  '/install.sh',
  '/install.ps1',
  '/download',
);

const NOT_BUILT =
  'The dashboard has not been built. Run "npm run build" in the folder of the gateway, and start ' +
  'it again. The API at /v1 works without it.\n';

export interface WebParts {
  /** Null if it has not been built. */
  readonly files: WebFiles | null;
  /** Called for each page: the port is known only once the server listens. */
  readonly ownOrigins: () => readonly string[];
  readonly sessions: Pick<ConsoleSessions, 'isNamedBy'>;
}

export function web({ files, ownOrigins, sessions }: WebParts): Middleware {
  const screens = readScreens(files);
  return (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const file = ctx.path === INDEX ? undefined : files?.get(ctx.path);
    if (file !== undefined) return sendFile(ctx, file);
    if (isForPrograms(ctx.path)) return next();
    // Also for the answer to a program, which caches must not return to a browser.
    ctx.vary('Accept');
    if (!wantsPage(ctx)) return next();
    ctx.set(pageHeaders(ownOrigins()));
    const index = files?.get(INDEX);
    if (index === undefined) return sayNotBuilt(ctx);
    const screen = screens.find(({ path }) => path.test(ctx.path));
    if (screen !== undefined && sessions.isNamedBy(ctx)) ctx.set('Link', screen.links);
    return send(ctx, index, CHECKED);
  };
}

function isForPrograms(path: string): boolean {
  return PROGRAMS.some((one) => path === one || path.startsWith(`${one}/`));
}

/** Programs accept anything, or JSON: only browsers request HTML by name, before other types. */
function wantsPage(ctx: Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

function sendFile(ctx: Context, file: WebFile): void {
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  send(ctx, file, ctx.path.startsWith(HASHED) ? FOR_EVER : CHECKED);
}

function send(ctx: Context, { contentType, tag, plain, compressed }: WebFile, keep: string): void {
  const offered = compressed.map(({ encoding }) => encoding);
  const encoding = acceptedEncoding(ctx.get('Accept-Encoding'), offered);
  const form = compressed.find((one) => one.encoding === encoding);
  // Each encoding has its own tag, because their bytes differ.
  const etag = form === undefined ? `"${tag}"` : `"${tag}-${form.encoding}"`;
  ctx.vary('Accept-Encoding');
  ctx.set({ ETag: etag, 'Cache-Control': keep });
  ctx.status = 200;
  if (isHeld(ctx.get('If-None-Match'), etag)) {
    ctx.status = 304;
    return;
  }
  if (form !== undefined) ctx.set('Content-Encoding', form.encoding);
  ctx.set('Content-Type', contentType);
  ctx.body = form?.bytes ?? plain;
}

function sayNotBuilt(ctx: Context): void {
  ctx.status = 503;
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = NOT_BUILT;
}

// What the browser loads with the page, instead of when a script asks for it.

interface Screen {
  readonly path: RegExp;
  /** The header `Link`: the files of the screen, and the answer that says who is logged in. */
  readonly links: string;
}

/** The files of each screen, by its route. */
const SCREENS = '/screens.json';
const SESSION = '</api/console/v1/session>; rel=preload; as=fetch; crossorigin';

function readScreens(files: WebFiles | null): readonly Screen[] {
  const listed = files?.get(SCREENS)?.plain.toString() ?? '{}';
  const screens = Object.entries(JSON.parse(listed) as Readonly<Record<string, string[]>>);
  return screens.map(([route, names]) => {
    const path = route.replaceAll(/\/:\w+\?/g, '(?:/[^/]+)?').replaceAll(/:\w+/g, '[^/]+');
    return { path: new RegExp(`^${path}/?$`), links: [SESSION, ...names.map(linkTo)].join(', ') };
  });
}

function linkTo(file: string): string {
  const how = file.endsWith('.css') ? 'rel=preload; as=style' : 'rel=modulepreload';
  return `<${file}>; ${how}; crossorigin`;
}

// Content security policy of the dashboard.
const POLICY = [
  "default-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
];

/** The microphone, for transcriptions, is the only device that a page uses. */
const PERMISSIONS = ['microphone=(self)'].concat(
  ['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid']
    .concat(['magnetometer', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking'])
    .map((feature) => `${feature}=()`),
);

const HSTS_S = 31_536_000;

/** `ownOrigins`: the origins of the gateway. */
function pageHeaders(ownOrigins: readonly string[]): Readonly<Record<string, string>> {
  const isSecure = ownOrigins.some((origin) => origin.startsWith('https:'));
  return {
    'Content-Security-Policy': [...POLICY, connections(ownOrigins)].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': PERMISSIONS.join(', '),
    // Browsers apply it only over https.
    ...(isSecure && { 'Strict-Transport-Security': `max-age=${HSTS_S}` }),
  };
}

/** For Safari before 15.4, `'self'` does not include WebSockets of the own origin. */
function connections(ownOrigins: readonly string[]): string {
  const sockets = ownOrigins.map((origin) => new URL(origin).origin.replace(/^http/, 'ws'));
  return ["connect-src 'self'", ...sockets].join(' ');
}

// RFC 9110, 12.5.3: the preferred encoding of a file.

/**
 * The encoding with the highest quality; of several, the first offered. Null: unencoded, also for a
 * client that refuses it, which the RFC allows.
 */
export function acceptedEncoding<T extends string>(
  header: string,
  offered: readonly T[],
): T | null {
  const qualities = readQualities(header);
  const qualityOf = (name: string): number => qualities.get(name) ?? qualities.get('*') ?? 0;
  // If `identity` is not named it is accepted, but named encodings are preferred.
  let best = { name: null as T | null, quality: qualities.get('identity') ?? 0 };
  for (const name of offered) {
    const quality = qualityOf(name);
    const isBetter = best.name === null ? quality >= best.quality : quality > best.quality;
    if (quality > 0 && isBetter) best = { name, quality };
  }
  return best.name;
}

/** By name, in lower case. An invalid quality counts as 0. */
function readQualities(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
    if (name !== '') qualities.set(name, Number(quality) || 0);
  }
  return qualities;
}
