import type { Target } from './job.js';

interface PostedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A request as it goes over the wire. */
function post(target: Target, path: string, { contentType, bytes }: PostedBody): Buffer {
  const about = { 'content-type': contentType, 'content-length': String(bytes.length) };
  return Buffer.concat([Buffer.from(`${head(target, `POST ${path}`, about)}\r\n`), bytes]);
}

/** A request without a body. */
export function get(target: Target, path: string): Buffer {
  return Buffer.from(`${head(target, `GET ${path}`, {})}\r\n`);
}

export function postJson(target: Target, path: string, body: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(body));
  return post(target, path, { contentType: 'application/json', bytes });
}

/** The form of the OpenAI SDK, byte for byte: both leave its writing to Node's own fetch. */
export async function postForm(target: Target, path: string, form: FormData): Promise<Buffer> {
  const written = new Response(form);
  const contentType = written.headers.get('content-type') ?? '';
  const bytes = new Uint8Array(await written.arrayBuffer());
  return post(target, path, { contentType, bytes });
}

function head(target: Target, line: string, about: Readonly<Record<string, string>>): string {
  const headers = { host: new URL(target.origin).host, ...about, ...target.headers };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}`;
}
