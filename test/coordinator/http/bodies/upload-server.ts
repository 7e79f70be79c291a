/** An HTTP server that reads one form per request and answers with its contents. */
import type { Context } from '@inference-gateway/coordinator/http/edge/context';
import { errorBoundary } from '@inference-gateway/coordinator/http/edge/errors';
import { Spool } from '@inference-gateway/coordinator/http/bodies/spool';
import { Uploads } from '@inference-gateway/coordinator/http/bodies/upload';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { createLogger } from '@inference-gateway/shared/program/logger';
import Koa from 'koa';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../support/temporary-folder.js';

interface ReadForm {
  readonly fields: Record<string, string[]>;
  readonly files: { name: string; contentType: string; bytes: number; sha256: string }[];
  /** Number of files on disk while the form was held. */
  readonly spooled: number;
}

export interface UploadServer {
  readonly port: number;
  /** The folder of the uploaded files. */
  readonly folder: string;
  /** Number of files on disk now. */
  left(): Promise<number>;
  /** The error codes of refused forms. */
  readonly refused: string[];
  send(form: FormData | RequestInit): Promise<Response>;
  read(form: FormData): Promise<ReadForm>;
}

/**
 * `before` is awaited before the form is read, as the gateway looks up the key and the rate limit.
 */
export async function startUploadServer(
  endpoint: EndpointKey,
  before: (ctx: Context) => Promise<void> = () => Promise.resolve(),
): Promise<UploadServer> {
  const folder = `${await temporaryFolder()}/uploads`;
  const uploads = new Uploads(new Spool(folder));
  const refused: string[] = [];
  const left = async (): Promise<number> => (await readdir(folder)).length;
  const port = await listen(async (ctx) => {
    await before(ctx);
    const form = await uploads
      .read(ctx, ENDPOINTS[endpoint].uploads)
      .catch((error: { code: string }) => {
        refused.push(error.code);
        throw error;
      });
    try {
      form.requireFiles();
      const files = [];
      for (const file of form.files) {
        const { name, contentType, bytes } = file;
        files.push({ name, contentType, bytes, sha256: await hashOf(file.read()) });
      }
      ctx.body = { fields: Object.fromEntries(form.fields), files, spooled: await left() };
    } finally {
      await form.remove();
    }
  });
  const send = (form: FormData | RequestInit): Promise<Response> => {
    const init = form instanceof FormData ? { body: form } : form;
    return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...init });
  };
  const read = async (form: FormData) => (await send(form)).json() as Promise<ReadForm>;
  return { port, folder, left, refused, send, read };
}

async function listen(handle: (ctx: Context) => Promise<void>): Promise<number> {
  const app = new Koa();
  // A caller who has left gets no answer; Koa would print that error.
  app.on('error', () => {});
  app.use((ctx, next) => {
    ctx.state['requestId'] = 'req_test';
    ctx.state['caller'] = { memberId: ctx.get('x-member') };
    return next();
  });
  app.use((ctx, next) => errorBoundary(createLogger('silent'))(ctx as Context, next));
  app.use((ctx) => handle(ctx as Context));
  const answer = app.callback();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}
