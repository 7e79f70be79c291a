/** URLs of byte stores, as the setting `FILES_URL` has them. */
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a coordinator keeps generated files. */
export interface FilesPlace {
  /** Holds the files if there is no URL, and drafts on their way to an object storage. */
  readonly dataDir: string;
  readonly filesUrl: string | null;
  /** Of an object storage. */
  readonly filesAccessKey: string | null;
  readonly filesSecretKey: string | null;
}

export interface Bucket {
  readonly kind: 's3';
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** Host and port of the storage. */
  readonly host: string;
  /** With the bucket, and a slash at its end. */
  readonly url: URL;
  readonly region: string;
}

export type FilesUrl = Bucket | { readonly kind: 'folder'; readonly folder: string };

export const FILES_URLS =
  'file:///FOLDER, or s3://BUCKET[/PREFIX]?endpoint=https://HOST&region=REGION&path_style=1';

/** Of AWS, which is also what most other programs take for their only one. */
const DEFAULT_REGION = 'us-east-1';
const PARAMETERS = ['endpoint', 'region', 'path_style'];
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** What is signed needs no escapes. */
const PREFIX = /^([\w-][\w.-]*\/)*$/;

/** What is wrong with the text, or null. */
export function faultOfFilesUrl(written: string): string | null {
  const read = readUrl(written);
  return typeof read === 'string' ? read : null;
}

/** Throws if the text is no such URL; the configuration has checked it. */
export function parseFilesUrl(written: string): FilesUrl {
  const read = readUrl(written);
  if (typeof read === 'string') throw new Error(`${hideCredentials(written)}: ${read}`);
  return read;
}

/** For messages: what looks like a credential may be one. */
export function hideCredentials(written: string): string {
  return written.replace(/\/\/[^/]*@/g, '//…@');
}

/** The same text for all URLs of one place. */
export function nameOfPlace(written: string): string {
  const read = parseFilesUrl(written);
  if (read.kind === 'folder') return `file://${read.folder}`;
  const { bucket, prefix, host } = read;
  return `s3://${bucket}/${prefix} at ${host}`;
}

function readUrl(written: string): FilesUrl | string {
  if (!URL.canParse(written)) return `allowed is ${FILES_URLS}.`;
  const url = new URL(written);
  if (url.protocol === 'file:') return readFolder(url);
  return url.protocol === 's3:' ? readBucket(url) : `allowed is ${FILES_URLS}.`;
}

function readFolder(url: URL): FilesUrl | string {
  if (url.host !== '' || url.search !== '' || url.hash !== '') {
    return 'write a folder as file:///srv/gateway-files, without a host or parameters.';
  }
  const folder = fileURLToPath(url).replace(/(?<=[^/\\:])[/\\]+$/, '');
  return isAbsolute(folder) && folder !== '/' ? { kind: 'folder', folder } : 'name a folder.';
}

function readBucket(url: URL): FilesUrl | string {
  if (url.username !== '' || url.password !== '') {
    return (
      'credentials are not part of the URL, which is printed and logged: set ' +
      'GATEWAY_FILES_ACCESS_KEY and GATEWAY_FILES_SECRET_KEY, or the same names with _FILE.'
    );
  }
  const { host: bucket, searchParams } = url;
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `'${unknown}' is none of ${PARAMETERS.join(', ')}.`;
  if (!BUCKET_NAME.test(bucket)) {
    return `'${bucket}' is no name of a bucket: 3 to 63 of a-z, 0-9, . and -.`;
  }
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  if (!PREFIX.test(prefix) || url.hash !== '') {
    return `the prefix '${path}' may have letters, digits, . _ - and /.`;
  }
  return withEndpoint({ bucket, prefix }, searchParams);
}

function withEndpoint(
  named: Pick<Bucket, 'bucket' | 'prefix'>,
  parameters: URLSearchParams,
): Bucket | string {
  const region = parameters.get('region') ?? DEFAULT_REGION;
  if (!/^[\w-]+$/.test(region)) return `region '${region}' may have letters, digits and -.`;
  const given = parameters.get('endpoint');
  const endpoint = readEndpoint(given ?? `https://s3.${region}.amazonaws.com`);
  if (endpoint === null) {
    return `endpoint '${hideCredentials(given ?? '')}' must be as https://HOST or http://HOST.`;
  }
  // Few stores besides AWS have a host name a bucket.
  const style = parameters.get('path_style') ?? (given === null ? '0' : '1');
  if (style !== '0' && style !== '1') return `path_style is '${style}': allowed is 0 or 1.`;
  const url = new URL(endpoint);
  const { host } = url;
  if (style === '0') url.host = `${named.bucket}.${url.host}`;
  const base = url.pathname.replace(/\/+$/, '');
  url.pathname = style === '0' ? `${base}/` : `${base}/${named.bucket}/`;
  return { kind: 's3', ...named, host, url, region };
}

function readEndpoint(written: string): URL | null {
  if (!/^https?:\/\//i.test(written) || !URL.canParse(written)) return null;
  const url = new URL(written);
  const isPlain = url.username === '' && url.password === '' && url.search === '';
  return isPlain && url.hash === '' ? url : null;
}
