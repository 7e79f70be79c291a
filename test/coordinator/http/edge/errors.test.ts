import type { Context } from '@inference-gateway/coordinator/http/edge/context';
import { errorBoundary } from '@inference-gateway/coordinator/http/edge/errors';
import { ApiError, ERRORS, errorRow } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { createLogger } from '@inference-gateway/shared/program/logger';
import Koa from 'koa';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';

/** Answers every request with the error that `fail` throws, through the real error boundary. */
async function serverThrowing(fail: () => never): Promise<string> {
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state.requestId = 'req_test';
    return next();
  });
  app.use((ctx, next) => errorBoundary(createLogger('silent'))(ctx as Context, next));
  app.use(fail);
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe('every error of the table is answered with its row', () => {
  it.each(CODES)('%s', async (code) => {
    const row = errorRow(code);
    const url = await serverThrowing(() => {
      throw new ApiError(code, 'This failed.', { param: 'model' });
    });
    const response = await fetch(url);
    expect(response.status).toBe(row.status);
    const error = { message: 'This failed.', type: row.type, code, param: 'model' };
    expect(await response.json()).toEqual({ error });
    const { headers } = response;
    expect(headers.get('x-should-retry')).toBe(row.shouldRetry === false ? 'false' : null);
    expect(headers.get('retry-after')).toBe(row.retryAfterS ? String(row.retryAfterS) : null);
    expect(headers.get('www-authenticate')).toBe(row.status === 401 ? 'Bearer' : null);
    expect(headers.get('connection')).toBe(row.closes ? 'close' : 'keep-alive');
  });
});

it('a bug of ours is a 500 that names the request and nothing of the inside', async () => {
  const url = await serverThrowing(() => {
    throw new TypeError('cannot read /var/lib/gateway/secret of undefined');
  });
  const response = await fetch(url);
  expect(response.status).toBe(500);
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  expect(error.code).toBe('internal_error');
  expect(error.message).toContain('req_test');
  expect(error.message).not.toContain('secret');
});

it.each([
  [0.2, '1', '1000'],
  [7.1, '8', '8000'],
  [900, '60', '60000'],
])('waiting for %s s is told as %s whole seconds, which every client takes', async (...told) => {
  const [retryAfterS, seconds, milliseconds] = told;
  const url = await serverThrowing(() => {
    throw new ApiError('rate_limit_exceeded', 'Too many.', { retryAfterS });
  });
  const { headers } = await fetch(url);
  expect(headers.get('retry-after')).toBe(seconds);
  expect(headers.get('retry-after-ms')).toBe(milliseconds);
});
