/**
 * What the coordinator hands out for machines with GPUs: the scripts that install an agent, and the
 * files of a release. No key is needed: the files are the same for everybody, and hold no secret.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import {
  DOWNLOAD_PATH,
  MAX_LIST_BYTES,
  RELEASE_LIST,
  RELEASE_SIGNATURE,
  readRelease,
} from '@inference-gateway/shared/program/release';
import type { Artifact, Release } from '@inference-gateway/shared/program/release';
import type Router from '@koa/router';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AddressLimit } from '../edge/address-limit.js';
import { placeOf, selectBytes } from '../edge/conditional.js';
import { onceClosed } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { INSTALL_FOLDER } from '../../own-files.js';

/** Downloads at once: each holds a file open, and a share of the server's uplink. */
const MAX_DOWNLOADS = 32;
/** Per address and minute: ten machines of one home, with repeated tries. */
const MAX_REQUESTS = 60;

/** Whose script starts with which line; both get the same values. */
const SCRIPTS = [
  { path: '/install.sh', quote: shellQuoted },
  { path: '/install.ps1', quote: powerShellQuoted },
] as const;

interface DownloadFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Unix ms, in whole seconds. */
  readonly modifiedAt: number;
}

export interface Downloads {
  readonly release: Release;
  /** The list and its signature, if there is one, as they are. */
  readonly texts: ReadonlyMap<string, Buffer>;
  /** The artifacts that are in the folder, by name. */
  readonly files: ReadonlyMap<string, DownloadFile>;
}

/** Null if the folder holds no release: then this coordinator hands out nothing. */
export async function readDownloads(folder: string, logger: Logger): Promise<Downloads | null> {
  const list = await readSmall(join(folder, RELEASE_LIST));
  if (list === null) return null;
  const release = readRelease(list.toString());
  if (release === null) {
    logger.warn({ folder }, `${RELEASE_LIST} is no list of a release: no agent is handed out`);
    return null;
  }
  const signature = await readSmall(join(folder, RELEASE_SIGNATURE));
  const texts = new Map([[RELEASE_LIST, list]]);
  if (signature !== null) texts.set(RELEASE_SIGNATURE, signature);
  const files = new Map<string, DownloadFile>();
  for (const artifact of release.artifacts) {
    const file = await fileOf(folder, artifact);
    if (typeof file === 'object') files.set(artifact.file, file);
    else if (file === 'mismatch') logger.warn({ folder, file: artifact.file }, SIZE_MISMATCH);
  }
  return { release, texts, files };
}

const SIZE_MISMATCH = 'a file has another size than its release says, and is not handed out';

async function readSmall(path: string): Promise<Buffer | null> {
  const facts = await stat(path).catch(() => null);
  return facts === null || facts.size > MAX_LIST_BYTES ? null : readFile(path);
}

async function fileOf(
  folder: string,
  { file, bytes, sha256 }: Artifact,
): Promise<DownloadFile | 'absent' | 'mismatch'> {
  const path = join(folder, file);
  const facts = await stat(path).catch(() => null);
  if (facts === null) return 'absent';
  if (!facts.isFile() || facts.size !== bytes) return 'mismatch';
  return { path, bytes, sha256, modifiedAt: wholeSeconds(facts.mtimeMs) };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Its digest was read at the start, and would describe other bytes. */
async function isReplaced({ path, bytes, modifiedAt }: DownloadFile): Promise<boolean> {
  const facts = await stat(path).catch(() => null);
  return facts?.size !== bytes || wholeSeconds(facts.mtimeMs) !== modifiedAt;
}

export interface DownloadParts {
  readonly downloads: Downloads | null;
  /** Called late: the port is known once the server listens. */
  readonly publicUrl: () => string;
  /** A caller that reads no byte for this long loses the connection. */
  readonly stallMs: number;
}

export function downloadRoutes(router: Router<RequestState>, parts: DownloadParts): void {
  const limit = new AddressLimit(MAX_REQUESTS);
  for (const { path, quote } of SCRIPTS) {
    router.get(path, async (ctx) => {
      limit.take(ctx.state.ip);
      const template = await readFile(join(INSTALL_FOLDER, path), 'utf8');
      sendText(ctx, Buffer.from(filled(template, valuesOf(parts), quote)));
    });
  }
  const open = { count: 0 };
  router.get(`${DOWNLOAD_PATH}/:file`, async (ctx) => {
    limit.take(ctx.state.ip);
    const name = ctx.params['file'] ?? '';
    const { texts, files } = handedOut(parts);
    const text = texts.get(name);
    if (text !== undefined) return sendText(ctx, text);
    const file = files.get(name);
    if (file === undefined) throw noFile(name, [...texts.keys(), ...files.keys()]);
    if (await isReplaced(file)) throw replaced(name);
    sendFile(ctx, file, { open, stallMs: parts.stallMs });
  });
}

function sendText(ctx: Context, text: Buffer): void {
  ctx.set({
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  });
  ctx.body = text;
}

interface Sending {
  readonly open: { count: number };
  readonly stallMs: number;
}

function sendFile(ctx: Context, file: DownloadFile, { open, stallMs }: Sending): void {
  const known = { ...file, etag: `"${file.sha256}"` };
  ctx.set({
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'no-cache',
    'Content-Type': 'application/octet-stream',
    ETag: known.etag,
    'Last-Modified': new Date(file.modifiedAt).toUTCString(),
    'X-Content-Type-Options': 'nosniff',
  });
  const selected = selectBytes(ctx, known);
  if (selected.kind !== 'bytes') return;
  const { start, end } = placeOf(ctx, known, selected.range);
  if (ctx.method === 'HEAD') return;
  if (open.count >= MAX_DOWNLOADS) throw busy();
  open.count += 1;
  onceClosed(ctx, () => (open.count -= 1));
  ctx.res.setTimeout(stallMs, () => ctx.res.destroy());
  const stream = createReadStream(file.path, { start, end: end - 1 });
  // Of a file that has become shorter, the caller must not wait for the rest.
  stream.once('end', () => stream.bytesRead < end - start && ctx.res.destroy());
  ctx.body = stream;
}

function handedOut({ downloads }: DownloadParts): Downloads {
  if (downloads !== null) return downloads;
  const message =
    'This coordinator has no agent to hand out: its administrator sets GATEWAY_DOWNLOADS_DIR to ' +
    'the folder that "npm run package" fills.';
  throw new ApiError('not_found', message);
}

function noFile(name: string, names: readonly string[]): ApiError {
  const shown = name.slice(0, 120);
  const message = `No file '${shown}' is handed out here; these are: ${names.join(', ')}.`;
  return new ApiError('not_found', message);
}

function replaced(name: string): ApiError {
  const message =
    `The file '${name.slice(0, 120)}' was replaced after this coordinator started: its ` +
    'administrator restarts it, then it hands out the new release.';
  return new ApiError('conflict', message);
}

function busy(): ApiError {
  const message = `${MAX_DOWNLOADS} downloads are under way here. Try again in a moment.`;
  return new ApiError('capacity_exhausted', message);
}

// The values that the scripts are filled with.

/** A script names the files, with their sizes and digests, that it may fetch. */
function valuesOf(parts: DownloadParts): Readonly<Record<string, string>> {
  const url = parts.publicUrl();
  const { release, files } = handedOut(parts);
  if (!isSafe(url)) throw insecure(url);
  const offered = release.artifacts.filter(({ file }) => files.has(file));
  return { URL: url, VERSION: release.version, FILES: offered.map(lineOf).join('\n') };
}

function lineOf({ kind, platform, file, bytes, sha256 }: Artifact): string {
  return `${kind} ${platform ?? 'any'} ${file} ${bytes} ${sha256}`;
}

/** An agent connects without TLS only to its own machine. */
function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function insecure(url: string): ApiError {
  const message =
    `This coordinator is reached at ${url}, and agents of other machines connect over https ` +
    'only: its administrator sets GATEWAY_PUBLIC_URL to an https:// address.';
  return new ApiError('conflict', message);
}

/** Each `@NAME@` of the template becomes its value, quoted. */
function filled(
  template: string,
  values: Readonly<Record<string, string>>,
  quote: (text: string) => string,
): string {
  return template.replaceAll(/@(URL|VERSION|FILES)@/g, (_, name: string) =>
    quote(values[name] ?? ''),
  );
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function powerShellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
