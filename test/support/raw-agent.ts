/** An agent that sends exactly what a test specifies, valid or not, over a real WebSocket. */
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import {
  decodeFrame,
  encodeData,
  encodeMessage,
  encodeWindow,
} from '@inference-gateway/shared/protocol/frames';
import { CONNECT_PATH, LINK, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { until } from './until.js';

type Tag = CoordinatorMessage['t'];
type Received<T extends Tag> = Extract<CoordinatorMessage, { t: T }>;

export const HELLO: Extract<AgentMessage, { t: 'HELLO' }> = {
  t: 'HELLO',
  proto: 1,
  agent_version: '0.0.0-test',
  features: [],
  instance_id: 'instance-1',
  host: { os: 'linux', arch: 'x64', gpus: [] },
  services_rev: 1,
  services: [
    {
      service_id: 'llm-0',
      service_type: 'llm',
      slots: 4,
      models: [
        {
          id: 'm',
          served_name: 'm',
          context_length: 4096,
          input_modalities: ['text'],
          output_modalities: ['text'],
          supported_features: [],
          loaded: true,
        },
      ],
    },
  ],
  resume: [],
};

/** One file of an answer. */
export interface RawFile {
  readonly bytes: Uint8Array;
  readonly contentType?: string;
  readonly revisedPrompt?: string;
}

interface RawAgentOptions {
  readonly perMessageDeflate?: boolean;
  /** False: the test must close it. */
  readonly endsWithTest?: boolean;
}

export class RawAgent {
  readonly socket: WebSocket;
  readonly messages: CoordinatorMessage[] = [];
  /** Request bodies by stream. */
  readonly bodies = new Map<number, Buffer>();
  /** Credit granted to this agent, by stream. */
  readonly granted = new Map<number, number>();
  closeCode: number | null = null;
  /** Bytes of files that were sent under credit, by stream. */
  readonly #sent = new Map<number, number>();
  #opensTaken = 0;

  constructor(address: string, token: string, options: RawAgentOptions = {}) {
    const { endsWithTest = true, ...told } = options;
    const url = `${address.replace('http', 'ws')}${CONNECT_PATH}`;
    const headers = { authorization: `Bearer ${token}` };
    this.socket = new WebSocket(url, SUBPROTOCOL, { headers, ...told });
    this.socket.on('error', () => {});
    this.socket.on('close', (code) => {
      this.closeCode = code;
    });
    this.socket.on('message', (data, isBinary) => this.#received(data as Buffer, isBinary));
    if (endsWithTest) onTestFinished(() => this.socket.terminate());
  }

  /** Resolves once the socket is open. */
  async opened(): Promise<this> {
    await until(() => this.socket.readyState === WebSocket.OPEN);
    return this;
  }

  send(message: AgentMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Sends any text as a text frame. */
  sendText(text: string): void {
    this.socket.send(text);
  }

  data(stream: number, bytes: Uint8Array | string): void {
    this.socket.send(encodeData(stream, Buffer.from(bytes)));
  }

  grant(stream: number, credit: number): void {
    this.socket.send(encodeWindow(stream, credit));
  }

  /** The first message of this kind; waits for it. */
  async first<T extends Tag>(tag: T): Promise<Received<T>> {
    const find = () => this.messages.find((one): one is Received<T> => one.t === tag);
    await until(() => find() !== undefined);
    return find() as Received<T>;
  }

  /** Whether there is an OPEN that `nextOpen` has not returned yet. */
  get hasOpen(): boolean {
    return this.messages.filter(({ t }) => t === 'OPEN').length > this.#opensTaken;
  }

  /** The next OPEN that was not returned yet; accepts it unless `accept` is false. */
  async nextOpen(accept = true): Promise<Received<'OPEN'>> {
    const opens = () => this.messages.filter((one): one is Received<'OPEN'> => one.t === 'OPEN');
    await until(() => opens().length > this.#opensTaken);
    const open = opens()[this.#opensTaken++] as Received<'OPEN'>;
    if (accept) this.send({ t: 'ACCEPT', stream: open.stream });
    return open;
  }

  /** Answers a stream with a JSON document. */
  answer(stream: number, document: unknown): void {
    this.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    this.data(stream, JSON.stringify(document));
    this.send({ t: 'END', stream, ok: true });
  }

  /** The same in one frame. */
  answerInOneFrame(
    stream: number,
    document: unknown,
    changes: Partial<Message<'ANSWER'>> = {},
  ): void {
    const head = { t: 'ANSWER', stream, status: 200, content_type: 'application/json' };
    const text = JSON.stringify({ ...head, ...changes });
    this.socket.send(encodeMessage(stream, text, Buffer.from(JSON.stringify(document))));
  }

  /** Answers a stream with files, as fast as the coordinator grants credit. */
  async media(stream: number, files: readonly RawFile[]): Promise<void> {
    this.mediaHead(stream);
    for (const [index, file] of files.entries()) {
      this.part(stream, { index, ...file });
      await this.bytes(stream, file.bytes);
    }
    this.send({ t: 'END', stream, ok: true });
  }

  mediaHead(stream: number): void {
    this.send({ t: 'HEAD', stream, status: 200, content_type: 'multipart/mixed' });
  }

  /** Begins the next file. */
  part(stream: number, file: Partial<Omit<RawFile, 'bytes'>> & { index?: number } = {}): void {
    const { index = 0, contentType = 'application/octet-stream', revisedPrompt } = file;
    const told = revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt };
    this.send({ t: 'PART', stream, index, content_type: contentType, ...told });
  }

  /** Sends bytes of a file; resolves when there was credit for all of them. */
  async bytes(stream: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += LINK.maxDataBytes) {
      const piece = bytes.subarray(at, at + LINK.maxDataBytes);
      const sent = (this.#sent.get(stream) ?? 0) + piece.length;
      await until(() => LINK.windowBytes + (this.granted.get(stream) ?? 0) >= sent, {
        what: 'credit',
      });
      this.#sent.set(stream, sent);
      this.data(stream, piece);
    }
  }

  /** The JSON body of a request, once complete. */
  async requestOf({ stream, body }: Received<'OPEN'>): Promise<Record<string, unknown>> {
    const bytes = body?.bytes ?? 0;
    await until(() => (this.bodies.get(stream)?.length ?? 0) >= bytes);
    const text = this.bodies.get(stream)?.subarray(0, bytes).toString() ?? '';
    return JSON.parse(text) as Record<string, unknown>;
  }

  async closed(): Promise<number> {
    await until(() => this.closeCode !== null);
    return this.closeCode ?? 0;
  }

  #received(data: Buffer, isBinary: boolean): void {
    if (!isBinary) {
      this.messages.push(JSON.parse(data.toString()) as CoordinatorMessage);
      return;
    }
    const frame = decodeFrame(data);
    if (frame?.kind === 'window') {
      this.granted.set(frame.stream, (this.granted.get(frame.stream) ?? 0) + frame.credit);
    } else if (frame !== null) {
      if (frame.kind === 'message')
        this.messages.push(JSON.parse(frame.text) as CoordinatorMessage);
      const before = this.bodies.get(frame.stream) ?? Buffer.alloc(0);
      this.bodies.set(frame.stream, Buffer.concat([before, frame.bytes]));
    }
  }
}

/** Connects, sends HELLO, and waits for WELCOME. */
export async function connectRawAgent(
  address: string,
  token: string,
  hello: Partial<typeof HELLO> = {},
): Promise<RawAgent> {
  const agent = await new RawAgent(address, token).opened();
  agent.send({ ...HELLO, ...hello });
  await agent.first('WELCOME');
  return agent;
}

export const DOCUMENT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
