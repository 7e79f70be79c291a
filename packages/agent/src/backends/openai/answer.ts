/**
 * Media from a server that speaks OpenAI's API: the file itself, or JSON that contains its bytes.
 */
import { startOf } from '../../media/start-of.js';
import { errorInSuccess } from '../../openai-wire/error-document.js';
import { readMediaList } from '../../openai-wire/media-list.js';
import type { ListedFile } from '../../openai-wire/media-list.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';
import { LocalFailure } from '../backend.js';
import type { ForwardedAnswer } from '../forward.js';
import { forward } from '../forward.js';
import { asStream, inPieces, limited } from '../bytes.js';
import type { CallTarget } from '../run-call.js';
import { MAX_DOCUMENT_BYTES } from './send.js';
import type { MediaTarget } from './send.js';

/** At least one. */
export interface MadeList {
  readonly kind: 'list';
  readonly files: readonly [ListedFile, ...ListedFile[]];
}

export interface MadeFile {
  readonly kind: 'file';
  readonly start: Buffer;
  /** The whole file, from its first byte. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export type Usable = MadeList | MadeFile;

export type ListedOrFile = ListedFile | MadeFile;

/** An error with a success status. */
interface Refused {
  readonly kind: 'refused';
  readonly answer: DocumentAnswer;
}

/** Length of an Ogg page's header and the first bytes of its content. */
const START_BYTES = 64;

/** Detects the format from the first bytes: servers often send wrong content types. */
export async function readMade(answer: ForwardedAnswer): Promise<Usable | Refused> {
  const { start, bytes } = await startOf(answer.body, START_BYTES);
  if (!JSON_START.test(start.toString('latin1'))) return { kind: 'file', start, bytes };
  const list = await readMediaList(limited(bytes, MAX_DOCUMENT_BYTES));
  if ('error' in list) return { kind: 'refused', answer: errorInSuccess(list.error) };
  return { kind: 'list', files: list.files };
}

/** The first file, in the answer or at its address. */
export async function openMade(
  made: Usable,
  target: MediaTarget,
  call: LocalCall,
): Promise<MadeFile> {
  return made.kind === 'file' ? made : openListed(made.files[0], target, call);
}

export async function openListed(
  file: ListedFile,
  target: MediaTarget,
  call: LocalCall,
): Promise<MadeFile> {
  const bytes =
    file.base64 === null ? await fetchOwnFile(target, file.url, call.signal) : decoded(file.base64);
  return { kind: 'file', ...(await startOf(bytes, START_BYTES)) };
}

/** Discards the rest: closes its connection. */
export async function leave({ bytes }: MadeFile): Promise<void> {
  for await (const _piece of bytes) return;
}

/** A byte order mark may precede it. No raw samples that look like this are known. */
const JSON_START = /^[\s\u00ef\u00bb\u00bf]*\{\s*["}]/;

/** Ignores line breaks; text that is not base64 decodes to nothing. */
function decoded(base64: NonNullable<ListedFile['base64']>): AsyncIterable<Uint8Array> {
  if (typeof base64 !== 'string') return asStream(base64.pieces);
  return inPieces(Buffer.from(base64, 'base64'));
}

// Files that a local server answers as an address. Only the server's own are fetched: otherwise a
// model server, or the author of a prompt, could cause requests inside the home network.

/** `url` may be relative to the server's base URL. Follows no redirect. */
export async function fetchOwnFile(
  { baseUrl, apiKey }: CallTarget,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const base = new URL(`${baseUrl}/`);
  const address = URL.canParse(url, base.href) ? new URL(url, base) : null;
  if (address?.origin !== base.origin) {
    const message = 'the local server answered an address of another server instead of a file.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  const { origin, pathname, search } = address;
  const answer = await forward({ url: origin + pathname + search, apiKey, body: null, signal });
  if (answer.status === 200) return answer.body;
  answer.body.abandon();
  const message = `the local server answered ${answer.status} to the address of its own file.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}
