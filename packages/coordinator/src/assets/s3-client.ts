/**
 * Requests to an S3-compatible object storage: signed, with time limits, repeated where that may
 * help. With node:http, because a body is sent from a file and an answer is passed on as it comes;
 * aws4fetch only signs.
 */
import { AwsV4Signer } from 'aws4fetch';
import { createReadStream } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Bucket } from './files-url.js';

export interface S3Limits {
  /** Of one request, the first one included. */
  readonly tries: number;
  /** Before the second try; doubled before each further one. */
  readonly firstPauseMs: number;
  /** A connection without a byte in either direction for this long is given up. */
  readonly silenceMs: number;
  /** Files of a page of a list; S3 has no more. */
  readonly pageFiles: number;
}

export const S3_LIMITS: S3Limits = {
  tries: 3,
  firstPauseMs: 250,
  silenceMs: 20_000,
  pageFiles: 1_000,
};

/** More calls at once wait for a connection. */
const MAX_CONNECTIONS = 64;
/** A page of a list of 1,000 files takes 400 KiB. */
const MAX_XML_BYTES = 4 * 1024 * 1024;
/** The SHA-256 of no bytes: the body of all requests but uploads. */
const NO_BYTES = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Refusals that say that the upload broke on its way. */
const BROKEN_UPLOADS = new Set([
  'BadDigest',
  'IncompleteBody',
  'RequestTimeout',
  'XAmzContentSHA256Mismatch',
]);

export class S3Error extends Error {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** S3's, such as `NoSuchBucket`, or Node's, such as `ECONNREFUSED`. */
  readonly code: string;

  constructor(message: string, answer: { status: number | null; code: string }, cause?: unknown) {
    super(message, { cause });
    this.name = 'S3Error';
    this.status = answer.status;
    this.code = answer.code;
  }

  get isWorthRetrying(): boolean {
    const { status, code } = this;
    return status === null || status >= 500 || status === 429 || BROKEN_UPLOADS.has(code);
  }
}

export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

interface Upload {
  readonly path: string;
  readonly bytes: number;
  /** Hex. It is part of the signature: the storage refuses other bytes. */
  readonly sha256: string;
}

interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Below the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly upload?: Upload;
}

export class S3Client {
  readonly #bucket: Bucket;
  readonly #credentials: S3Credentials;
  readonly #limits: S3Limits;
  readonly #agent: HttpAgent;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(bucket: Bucket, credentials: S3Credentials, limits: S3Limits = S3_LIMITS) {
    this.#bucket = bucket;
    this.#credentials = credentials;
    this.#limits = limits;
    const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
    const isTls = bucket.url.protocol === 'https:';
    this.#agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
  }

  get limits(): S3Limits {
    return this.#limits;
  }

  /**
   * The answer, whose body the caller reads or destroys; null if there is no such key. Throws an
   * `S3Error` for all other statuses than 2xx.
   */
  async send(request: S3Request): Promise<IncomingMessage | null> {
    const { tries, firstPauseMs } = this.#limits;
    for (let tried = 1; ; tried++) {
      try {
        return await this.#try(request);
      } catch (error) {
        if (!(error instanceof S3Error) || !error.isWorthRetrying || tried >= tries) throw error;
        await setTimeout(firstPauseMs * 2 ** (tried - 1));
      }
    }
  }

  /** A URL that answers a GET for `seconds`. */
  async presign(
    key: string,
    seconds: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<string> {
    const url = this.#urlOf({ key, query: { 'X-Amz-Expires': String(seconds), ...headers } });
    const signed = await this.#signer({ url: url.href, method: 'GET', signQuery: true }).sign();
    // A plus sign is a space only in forms.
    return signed.url.href.replaceAll('+', '%20');
  }

  close(): void {
    this.#agent.destroy();
  }

  async #try(request: S3Request): Promise<IncomingMessage | null> {
    const answer = await this.#exchange(request);
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return answer;
    const body = await textOf(answer);
    const code = elementsOf(body, 'Code')[0] ?? STATUS_CODES[statusCode] ?? `HTTP ${statusCode}`;
    // A bucket that is missing has the same status.
    if (statusCode === 404 && code !== 'NoSuchBucket') return null;
    const message = elementsOf(body, 'Message')[0] ?? 'no explanation';
    throw new S3Error(message, { status: statusCode, code });
  }

  async #exchange(request: S3Request): Promise<IncomingMessage> {
    const { method, upload } = request;
    const url = this.#urlOf(request).href;
    const hash = { 'x-amz-content-sha256': upload?.sha256 ?? NO_BYTES };
    const given = { ...request.headers, ...hash };
    const signed = await this.#signer({ url, method, headers: given }).sign();
    const headers = Object.fromEntries(signed.headers);
    if (upload !== undefined) headers['content-length'] = String(upload.bytes);
    const send = signed.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const { silenceMs: timeout } = this.#limits;
    const call = send(signed.url, { method, headers, agent: this.#agent, timeout });
    const answer = answerTo(call, timeout);
    if (upload === undefined) call.end();
    // The error of the call says what went wrong, unless it was the file.
    else pipeline(createReadStream(upload.path), call, (error) => error && call.destroy(error));
    return answer;
  }

  #urlOf({ key, query = {} }: Pick<S3Request, 'key' | 'query'>): URL {
    const url = new URL(this.#bucket.url);
    // Not all programs sign a slash behind the name of a bucket.
    url.pathname = key === '' ? url.pathname.slice(0, -1) : url.pathname + key;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  #signer(request: Pick<AwsOptions, 'url' | 'method' | 'headers' | 'signQuery'>): AwsV4Signer {
    return new AwsV4Signer({
      ...request,
      service: 's3',
      region: this.#bucket.region,
      accessKeyId: this.#credentials.accessKey,
      secretAccessKey: this.#credentials.secretKey,
      cache: this.#signingKeys,
    });
  }
}

type AwsOptions = ConstructorParameters<typeof AwsV4Signer>[0];

/** Answers to HEAD have no body that says more. */
const STATUS_CODES: Readonly<Record<number, string>> = { 403: 'AccessDenied', 404: 'NoSuchKey' };

function answerTo(call: ClientRequest, silenceMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null;
    call.on('response', (response) => {
      answer = response;
      // The reader learns of it; without one, an error would end the process.
      response.on('error', () => {});
      resolve(response);
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'no answer';
      reject(new S3Error(error.message || code, { status: null, code }, error));
    });
    call.on('timeout', () => {
      // A reader that is slow must not be taken for a storage that is silent.
      if (answer !== null && (answer.complete || answer.readableLength > 0)) {
        call.setTimeout(silenceMs);
        return;
      }
      const code = 'ETIMEDOUT';
      const message = `no byte for ${silenceMs / 1_000} s`;
      const error = Object.assign(new Error(message), { code });
      answer?.destroy(error);
      call.destroy(error);
    });
  });
}

/** Throws an `S3Error` if the answer breaks off or is too long. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MAX_XML_BYTES) throw new Error(`an answer of more than ${MAX_XML_BYTES} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    const { code = 'broken answer', message } = error as NodeJS.ErrnoException;
    throw new S3Error(message, { status: null, code }, error);
  }
  return Buffer.concat(pieces).toString();
}

/** The texts of all elements of that name, which contain no others. */
export function elementsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'));
  return [...found].map(([, text = '']) => decode(text));
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  quot: '"',
};

function decode(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
