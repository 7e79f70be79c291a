/**
 * A local server for transcriptions, edited images and copied voices that records what it receives:
 * a small real HTTP program that reads each form whole.
 */
import type { ConfiguredModel, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { picture } from './pictures.js';
import { send, startRecordingServer } from './recording-server.js';
import type { RecordedRequest, RecordingServer } from './recording-server.js';
import { tone } from './sound.js';

interface HeardFile {
  /** The name of the form field. */
  readonly name: string;
  readonly fileName: string;
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Heard {
  readonly path: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly HeardFile[];
}

export type Answering = (heard: Heard, response: ServerResponse) => void | Promise<void>;

export const SEGMENT = { id: 0, start: 0, end: 1, text: 'Hello' };
export const WORD = { word: 'Hello', start: 0, end: 1 };
/** Its duration is wrong on purpose: the gateway must not use it. */
const TRANSCRIPT = {
  text: 'Hello',
  language: 'en',
  duration: 999,
  segments: [SEGMENT],
  words: [WORD],
};

/** Length of the speech in a copied voice. Unit: seconds. */
export const SPOKEN_SECONDS = 0.5;

export class FakeMediaServer {
  /** Every form received so far. */
  readonly heard: Heard[] = [];
  readonly #server: RecordingServer;
  #answering: Answering = answerWell;

  constructor(server: RecordingServer) {
    this.#server = server;
  }

  /** Forms whose client left before the answer. */
  get aborts(): number {
    return this.#server.aborts.length;
  }

  get last(): Heard {
    const last = this.heard.at(-1);
    if (last === undefined) throw new Error('nothing was heard yet');
    return last;
  }

  behave(answering: Answering): void {
    this.#answering = answering;
  }

  /** A service of this type with these models, each with the list of its features. */
  service(
    type: ServiceConfig['type'],
    models: Readonly<Record<string, readonly string[]>>,
  ): Partial<ServiceConfig> {
    const configured = Object.entries(models).map(toModel);
    return { id: `${type}-0`, type, baseUrl: `${this.#server.origin}/v1`, models: configured };
  }

  /** Answers normally again, and forgets all forms. */
  reset(): void {
    this.heard.splice(0);
    this.#answering = answerWell;
  }

  async hear(request: RecordedRequest, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return send(response, 200, { object: 'list', data: [] });
    const heard = await readForm(request);
    this.heard.push(heard);
    return this.#answering(heard, response);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

export async function startFakeMedia(): Promise<FakeMediaServer> {
  const server: RecordingServer = await startRecordingServer((request, response) =>
    fake.hear(request, response),
  );
  const fake = new FakeMediaServer(server);
  return fake;
}

export function answerWell({ path }: Heard, response: ServerResponse): void {
  if (/\/(transcriptions|translations)$/.test(path)) return send(response, 200, TRANSCRIPT);
  if (path.endsWith('/edits')) {
    return send(response, 200, { data: [{ b64_json: picture().toString('base64') }] });
  }
  response.writeHead(200, { 'content-type': 'audio/wav' }).end(tone(SPOKEN_SECONDS));
  return undefined;
}

async function readForm({ path, headers, body }: RecordedRequest): Promise<Heard> {
  const type = String(headers['content-type']);
  const response = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  const fields: Record<string, string[]> = {};
  const files: HeardFile[] = [];
  for (const [name, value] of await response.formData()) {
    if (typeof value === 'string') fields[name] = [...(fields[name] ?? []), value];
    else files.push(await toFile(name, value));
  }
  return { path, fields, files };
}

async function toFile(name: string, file: File): Promise<HeardFile> {
  const sha256 = sha256Of(Buffer.from(await file.arrayBuffer()));
  return { name, fileName: file.name, type: file.type, bytes: file.size, sha256 };
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function toModel([id, supportedFeatures]: [string, readonly string[]]): ConfiguredModel {
  return { id, servedName: id, contextLength: null, inputModalities: null, supportedFeatures };
}
