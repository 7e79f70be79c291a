/** `/v1/files`: files of requests for batches, and the files that batches write. */
import { ApiError } from '@inference-gateway/shared/errors';
import {
  lifetime,
  MAX_BATCH_FILE_BYTES,
  MAX_BATCH_FILE_LINES,
} from '@inference-gateway/shared/openai/batch-files';
import { asItem } from '@inference-gateway/shared/openai/batch-requests';
import { checkAt, missingParameter } from '@inference-gateway/shared/openai/check';
import type { FormFields, RequestLimits } from '@inference-gateway/shared/openai/requests';
import type Router from '@koa/router';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { Draft } from '../../assets/byte-store.js';
import { restrictedTo, seesWorkOf } from '../../core/access/caller.js';
import { assetFactsOf, FILE_PURPOSES, MAX_FILES } from '../../core/jobs/file-batch.js';
import type { FilePurpose } from '../../core/jobs/file-batch.js';
import type { ApiFile, FileStore } from '../../store/port.js';
import type { JsonBodies } from '../bodies/body.js';
import { BatchLines, linesOf } from '../bodies/batch-lines.js';
import type { LargeBodies } from '../bodies/large-bodies.js';
import type { FormFile, UploadedFile, Uploads } from '../bodies/upload.js';
import { callerOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { listOf, queryText, readPage } from '../edge/read-query.js';
import { fileId } from '../jobs/present-job.js';
import { sendAsset } from './assets.js';

const MAX_LIMIT = 500;
const MAX_FILENAME_CHARACTERS = 255;

export interface FileRouteParts {
  readonly library: AssetLibrary;
  readonly uploads: Uploads;
  readonly bodies: JsonBodies;
  readonly large: LargeBodies;
  readonly limits: RequestLimits;
  readonly maxLineBytes: number;
  readonly timing: { readonly stallMs: number };
  readonly store: FileReads & Pick<FileStore, 'createFile' | 'listFiles' | 'deleteFile'>;
}

type FileReads = Pick<FileStore, 'findFile'>;

export function fileRoutes(router: Router<RequestState>, parts: FileRouteParts): void {
  const { store, library, timing } = parts;

  router.post('/v1/files', async (ctx) => {
    const form = await parts.uploads.read(ctx, FORM_FILES);
    try {
      form.requireFiles();
      const [file] = form.files;
      if (file === undefined) throw missingParameter('file');
      ctx.body = present(await keepFile(ctx, { file, fields: form.fields }, parts));
    } finally {
      await form.remove();
    }
  });

  router.get('/v1/files', async (ctx) => {
    const caller = callerOf(ctx);
    const { limit, after } = readPage(ctx, MAX_LIMIT);
    // One more than requested shows whether there are more.
    const files = await store.listFiles({
      memberId: caller.memberId,
      keyId: restrictedTo(caller),
      purpose: queryChoice(ctx, 'purpose', FILE_PURPOSES),
      order: queryChoice(ctx, 'order', ['asc', 'desc']) ?? 'desc',
      limit: limit + 1,
      after: after && assetId(after),
    });
    const list = listOf(files, limit, present);
    const [first, last] = [list.data[0], list.data.at(-1)];
    ctx.body = { ...list, first_id: first?.id ?? null, last_id: last?.id ?? null };
  });

  router.get('/v1/files/:id', async (ctx) => {
    ctx.body = present(await requireFile(ctx, store));
  });

  router.delete('/v1/files/:id', async (ctx) => {
    const { asset } = await requireFile(ctx, store);
    const id = fileId(asset.id);
    const outcome = await store.deleteFile(asset.id, asset.memberId);
    if (outcome === 'unknown') throw fileNotFound(id);
    if (outcome === 'in_use') {
      const message = `The file '${id}' is read by a batch that has not ended. Cancel that first.`;
      throw new ApiError('conflict', message);
    }
    await library.unlisted.drop(asset);
    ctx.body = { id, object: 'file', deleted: true };
  });

  router.get('/v1/files/:id/content', async (ctx) => {
    const { asset, filename } = await requireFile(ctx, store);
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    const sent = { asset, library, untilMs: asset.expiresAt, stallMs: timing.stallMs };
    await sendAsset(ctx, { ...sent, filename: filename.replaceAll(/[^\w.-]/g, '_') });
  });
}

/** Null if the caller has no such file. */
export async function ownFile(ctx: Context, id: string, store: FileReads): Promise<ApiFile | null> {
  const caller = callerOf(ctx);
  const file = await store.findFile(assetId(id), caller.memberId);
  if (file === null || file.asset.expiresAt <= ctx.state.now()) return null;
  return seesWorkOf(caller, file.asset.keyId) ? file : null;
}

export function fileNotFound(id: string, param?: string): ApiError {
  const message = `You have no file '${id}'. GET /v1/files lists yours.`;
  return new ApiError('file_not_found', message, param === undefined ? {} : { param });
}

async function requireFile(ctx: Context, store: FileReads): Promise<ApiFile> {
  const id = ctx.params['id'] ?? '';
  const file = await ownFile(ctx, id, store);
  if (file === null) throw fileNotFound(id);
  return file;
}

function assetId(id: string): string {
  return id.replace(/^file-/, '');
}

function present({ asset, purpose, filename }: ApiFile) {
  const { id, bytes, createdAt, expiresAt } = asset;
  return {
    id: fileId(id),
    object: 'file',
    bytes,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
    filename,
    purpose,
    // Deprecated, but required by clients' types: a file is checked before it is kept.
    status: 'processed',
  } as const;
}

function queryChoice<T extends string>(
  ctx: Context,
  name: string,
  choices: readonly T[],
): T | null {
  const written = queryText(ctx, name);
  const chosen = choices.find((one) => one === written);
  if (written === null || chosen !== undefined) return chosen ?? null;
  const message = `${name} is '${written}': it must be ${choices.join(' or ')}.`;
  throw new ApiError('invalid_value', message, { param: name });
}

const FORM_FILES: readonly FormFile[] = [
  {
    name: 'file',
    family: 'audio',
    formats: [],
    required: true,
    most: 1,
    maxBytes: MAX_BATCH_FILE_BYTES,
  },
];

interface Sent {
  readonly file: UploadedFile;
  readonly fields: FormFields;
}

/** Checks every line, and keeps the file. */
async function keepFile(
  ctx: Context,
  { file, fields }: Sent,
  parts: FileRouteParts,
): Promise<ApiFile> {
  const { memberId, keyId } = callerOf(ctx);
  const { requestId } = ctx.state;
  const { library, store } = parts;
  const { purpose, lifetimeMs } = readFields(fields);
  // A line is held as a whole while it is checked.
  parts.bodies.shareOf(ctx).add(Math.min(file.bytes, parts.maxLineBytes));
  const draft = library.draft(await library.requireSpace(memberId));
  try {
    const { path, lines } = await copyChecked(file, draft, { memberId, ...parts });
    const facts = { memberId, keyId, requestId, ...assetFactsOf(path) };
    const asset = await library.unlisted.keep(draft, facts);
    const expiresAt = Math.min(asset.expiresAt, asset.createdAt + lifetimeMs);
    const filename = file.filename.slice(0, MAX_FILENAME_CHARACTERS) || 'batch.jsonl';
    const kept: ApiFile = { asset: { ...asset, expiresAt }, purpose, filename, path, lines };
    const outcome = await store.createFile(kept, library.limits);
    if (outcome === 'created') return kept;
    await library.unlisted.drop(asset);
    throw outcome === 'too_many' ? tooManyFiles() : library.fullError(outcome);
  } finally {
    await draft.discard();
  }
}

type Checking = Pick<FileRouteParts, 'limits' | 'large' | 'maxLineBytes'> & {
  readonly memberId: string;
};

/** Throws an `ApiError` that names the first line that is wrong. */
async function copyChecked(
  file: UploadedFile,
  draft: Draft,
  { memberId, ...parts }: Checking,
): Promise<{ readonly path: string; readonly lines: number }> {
  const judge = new BatchLines(parts);
  const firstLines = new Map<string, number>();
  let path: string | null = null;
  for await (const { number, bytes } of linesOf(copied(file, draft), parts.maxLineBytes)) {
    const place = `line ${number}`;
    const line = await judge.judge(bytes, memberId).catch((error: unknown) => {
      return asItem<never>(place, () => {
        throw error;
      });
    });
    asItem(place, () => {
      line.take();
      path ??= line.path;
      if (path !== line.path) throw otherPath(line.path, path);
      const first = firstLines.get(line.customId);
      if (first !== undefined) throw repeatedId(line.customId, first);
    });
    firstLines.set(line.customId, number);
    if (firstLines.size > MAX_BATCH_FILE_LINES) throw tooManyLines();
  }
  if (path === null) throw emptyFile();
  return { path, lines: firstLines.size };
}

/** The bytes of the file, which are written to the draft on the way. */
async function* copied(file: UploadedFile, draft: Draft): AsyncGenerator<Uint8Array> {
  for await (const piece of file.read()) {
    // A piece belongs to the draft once it is written.
    await draft.write(Buffer.from(piece));
    yield piece;
  }
}

function readFields(fields: FormFields): { purpose: FilePurpose; lifetimeMs: number } {
  const purpose = fields.get('purpose')?.at(-1);
  if (purpose === undefined) throw missingParameter('purpose');
  if (purpose !== 'batch') {
    const shown = JSON.stringify(purpose.slice(0, MAX_FILENAME_CHARACTERS));
    const message = `'purpose' is ${shown}: files are kept for batches alone. Send batch.`;
    throw new ApiError('unsupported_value', message, { param: 'purpose' });
  }
  const anchor = fields.get('expires_after[anchor]')?.at(-1);
  const seconds = fields.get('expires_after[seconds]')?.at(-1);
  if (anchor === undefined && seconds === undefined) return { purpose, lifetimeMs: Infinity };
  const expiry = checkAt(lifetime, { anchor, seconds: Number(seconds) }, ['expires_after']);
  return { purpose, lifetimeMs: expiry.seconds * 1_000 };
}

function otherPath(path: string, first: string): ApiError {
  const message = `'url' is '${path}', and '${first}' before. Send one file for each.`;
  return new ApiError('invalid_value', message, { param: 'url' });
}

function repeatedId(customId: string, line: number): ApiError {
  const shown = JSON.stringify(customId);
  const message = `'custom_id' is ${shown}, as in line ${line}. Give each request its own.`;
  return new ApiError('invalid_value', message, { param: 'custom_id' });
}

function emptyFile(): ApiError {
  const message = "'file' has no request. Send a JSONL file with one request a line.";
  return new ApiError('empty_batch', message, { param: 'file' });
}

function tooManyLines(): ApiError {
  const most = MAX_BATCH_FILE_LINES;
  const message = `'file' has more than ${most} requests. Send the rest as another file.`;
  return new ApiError('batch_too_large', message, { param: 'file' });
}

function tooManyFiles(): ApiError {
  const message = `You have ${MAX_FILES} files, and no more are kept. Delete some of them.`;
  return new ApiError('storage_full', message);
}
