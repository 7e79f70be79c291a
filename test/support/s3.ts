/**
 * A real S3 server for one file of tests: the one of the package `@20minutes/s3rver`, which checks
 * signatures, or, if `GATEWAY_TEST_S3_URL` names one, that one, with the credentials in
 * `GATEWAY_TEST_S3_ACCESS_KEY` and `GATEWAY_TEST_S3_SECRET_KEY`. As S3 does, it refuses a body that
 * is not what its headers say.
 */
import type * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parseFilesUrl } from '@inference-gateway/coordinator/assets/files-url';
import type { Bucket } from '@inference-gateway/coordinator/assets/files-url';
import type { S3Credentials } from '@inference-gateway/coordinator/assets/s3-client';
import { afterAll, afterEach, beforeAll } from 'vitest';

const BUCKET = 'gateway-files';

/** Answers a request itself, or lets it through by returning false. */
type S3Fault = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => boolean | Promise<boolean>;

export interface S3Control {
  /** Until the end of the test. */
  readonly fail: (fault: S3Fault) => void;
  /** As if it were killed: nothing listens, and all connections are reset. */
  readonly kill: () => Promise<void>;
  /** On the same port, with the same files. */
  readonly restart: () => Promise<void>;
  /** `GET /bucket/key` of all requests of this test. */
  readonly requests: string[];
}

export interface TestS3 {
  /** A URL of a prefix that no other test uses. */
  readonly filesUrl: (bucket?: string) => string;
  readonly credentials: S3Credentials;
  /** Settings of a coordinator that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Null for a server of others. */
  readonly control: S3Control | null;
}

/** Started before the first test of the file, stopped after its last one. */
export function useS3(): () => TestS3 {
  let running: (TestS3 & { stop(): Promise<void> }) | null = null;
  beforeAll(async () => {
    running = othersServer() ?? (await startServer());
  });
  afterEach(() => {
    running?.control?.fail(letThrough);
    running?.control?.requests.splice(0);
  });
  afterAll(async () => {
    await running?.stop();
    running = null;
  });
  return () => {
    if (running === null) throw new Error('the S3 server is not running yet');
    return running;
  };
}

/** The server that the tests start; throws if they use another one. */
export function controlOf({ control }: TestS3): S3Control {
  if (control === null) throw new Error('this test is for the own server');
  return control;
}

export function bucketOf(filesUrl: string): Bucket {
  const read = parseFilesUrl(filesUrl);
  if (read.kind !== 's3') throw new Error(`${filesUrl} is no bucket`);
  return read;
}

let prefixes = 0;

function prefix(): string {
  return `test-${process.pid}-${++prefixes}`;
}

function envOf({ accessKey, secretKey }: S3Credentials): Record<string, string> {
  return { GATEWAY_FILES_ACCESS_KEY: accessKey, GATEWAY_FILES_SECRET_KEY: secretKey };
}

function othersServer(): (TestS3 & { stop(): Promise<void> }) | null {
  const { GATEWAY_TEST_S3_URL: named } = process.env;
  if (named === undefined) return null;
  const accessKey = process.env['GATEWAY_TEST_S3_ACCESS_KEY'] ?? '';
  const secretKey = process.env['GATEWAY_TEST_S3_SECRET_KEY'] ?? '';
  const credentials = { accessKey, secretKey };
  const filesUrl = (bucket?: string): string => {
    const url = new URL(named);
    url.pathname += `/${prefix()}`;
    return bucket === undefined ? url.href : url.href.replace(url.host, bucket);
  };
  return { filesUrl, credentials, env: envOf(credentials), control: null, stop: async () => {} };
}

/** Koa, with what is used of it here: the package has no types. */
interface S3rver {
  callback(): RequestListener;
  configureBuckets(): Promise<unknown>;
  readonly logger: { close(): void; readonly exceptions: { unhandle(): void } };
}

const require = createRequire(import.meta.url);

/** Loaded where it is started: it takes a quarter of a second. */
function createS3rver(options: object): S3rver {
  const Program = require('@20minutes/s3rver') as new (options: object) => S3rver;
  return new Program(options);
}

/**
 * The server makes tokens of pages with DES, which OpenSSL 3 no longer has; three times DES with
 * one key is the same. Returns a function that takes this back.
 */
function allowDes(): () => void {
  const own = require('node:crypto') as typeof crypto;
  const { createCipheriv, createDecipheriv } = own;
  own.createCipheriv = tripled(createCipheriv);
  own.createDecipheriv = tripled(createDecipheriv);
  return () => Object.assign(own, { createCipheriv, createDecipheriv });
}

function tripled(make: (...args: [string, Buffer, Buffer]) => unknown): never {
  return ((...[name, key, iv]: [string, Buffer, Buffer]) =>
    name === 'des'
      ? make('des-ede3-cbc', Buffer.concat([key, key, key]), iv)
      : make(name, key, iv)) as never;
}

const letThrough: S3Fault = () => false;

async function startServer(): Promise<TestS3 & { stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-s3-'));
  const configureBuckets = [{ name: BUCKET, configs: [] }];
  const program = createS3rver({ directory, silent: true, configureBuckets });
  await program.configureBuckets();
  const forbidDes = allowDes();
  const answer = program.callback();
  const requests: string[] = [];
  let fault = letThrough;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    requests.push(`${request.method} ${path}`);
    if (await fault(request, response, path)) return;
    if (request.method !== 'PUT') return answer(request, response);
    const body = await buffer(request);
    const sent = createHash('sha256').update(body).digest('hex');
    if (sent !== request.headers['x-amz-content-sha256']) return refuse(response);
    const { headers, method, url, socket } = request;
    answer(
      Object.assign(Readable.from([body]), { headers, method, url, socket }) as never,
      response,
    );
  };
  let server: Server;
  const listen = async (port: number): Promise<number> => {
    server = createServer((request, response) => {
      // A request whose body breaks off changes nothing.
      handle(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    return (server.address() as AddressInfo).port;
  };
  const kill = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(0);
  const control: S3Control = {
    fail: (next) => {
      fault = next;
    },
    kill,
    restart: async () => void (await listen(port)),
    requests,
  };
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`);
  const credentials = { accessKey: 'S3RVER', secretKey: 'S3RVER' };
  return {
    filesUrl: (bucket = BUCKET) => `s3://${bucket}/${prefix()}?endpoint=${endpoint}`,
    credentials,
    env: envOf(credentials),
    control,
    async stop() {
      if (server.listening) await kill();
      forbidDes();
      program.logger.exceptions.unhandle();
      program.logger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function refuse(response: ServerResponse): void {
  const code = 'XAmzContentSHA256Mismatch';
  const xml = `<Error><Code>${code}</Code><Message>other bytes were sent</Message></Error>`;
  response.writeHead(400, { 'content-type': 'application/xml' }).end(xml);
}
