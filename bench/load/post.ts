import type { Target } from './job.js';

export interface PostedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A request as it goes over the wire. */
export function post(target: Target, path: string, { contentType, bytes }: PostedBody): Buffer {
  const headers = {
    host: new URL(target.origin).host,
    'content-type': contentType,
    'content-length': String(bytes.length),
    ...target.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function postJson(target: Target, path: string, body: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(body));
  return post(target, path, { contentType: 'application/json', bytes });
}
