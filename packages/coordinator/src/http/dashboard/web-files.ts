/**
 * The built dashboard, read once into memory. A request selects an entry of this map, and never a
 * path on the disk.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export const INDEX = '/index.html';

/** Many times the size of the dashboard. */
const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Encodings of a file, by their names in `Accept-Encoding`; the smaller first. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

export type Encoding = (typeof ENCODINGS)[number]['name'];

export interface WebFile {
  readonly contentType: string;
  /** Entity tag of its content, without quotes. */
  readonly tag: string;
  readonly plain: Buffer;
  /** Compressed at build time; the smallest first. */
  readonly compressed: readonly { readonly encoding: Encoding; readonly bytes: Buffer }[];
}

/** By the path of its URL, such as `/assets/main-B4kX.js`. */
export type WebFiles = ReadonlyMap<string, WebFile>;

/** Null if nothing has been built. */
export async function readWebFiles(folder: string): Promise<WebFiles | null> {
  const contents = await readAll(folder);
  if (!contents.has(INDEX)) return null;
  const files = new Map<string, WebFile>();
  for (const [path, plain] of contents) {
    if (isCompressed(path, contents)) continue;
    const compressed = ENCODINGS.flatMap(({ name: encoding, ending }) => {
      const bytes = contents.get(path + ending);
      return bytes === undefined ? [] : [{ encoding, bytes }];
    });
    files.set(path, { contentType: typeOf(path), tag: tagOf(plain), plain, compressed });
  }
  return files;
}

async function readAll(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const content = await readFile(file);
    bytes += content.length;
    if (contents.size >= MAX_FILES || bytes > MAX_BYTES) throw tooLarge(folder);
    contents.set(`/${relative(folder, file).replaceAll(sep, '/')}`, content);
  }
  return contents;
}

/** A compressed form of a file, and no file of its own. */
function isCompressed(path: string, contents: ReadonlyMap<string, Buffer>): boolean {
  return ENCODINGS.some(({ ending }) => {
    return path.endsWith(ending) && contents.has(path.slice(0, -ending.length));
  });
}

function tagOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

function typeOf(path: string): string {
  return CONTENT_TYPES.get(extname(path)) ?? 'application/octet-stream';
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.json', 'application/json; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.webp', 'image/webp'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
  ['.wasm', 'application/wasm'],
]);

function tooLarge(folder: string): CommandError {
  const message =
    `${folder} holds more than ${MAX_FILES} files or ${MAX_BYTES / 1024 / 1024} MiB, which is no ` +
    'dashboard. Remove it, and run "npm run build".';
  return new CommandError(EXIT.failure, message);
}
