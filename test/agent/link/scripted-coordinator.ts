/**
 * A coordinator that a test scripts: it welcomes agents, opens jobs, records the bytes of each
 * stream, and cuts links.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeFrame, encodeData, encodeWindow } from '@inference-gateway/shared/protocol/frames';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { until } from '../../support/until.js';

type Resume = Message<'WELCOME'>['resume'];
type Offers = Message<'HELLO'>['resume'];
type Received<T extends AgentMessage['t']> = Extract<AgentMessage, { t: T }>;

const LAST_WORDS: ReadonlySet<string> = new Set(['END', 'RESET', 'REJECT']);

export class ScriptedLink {
  readonly messages: AgentMessage[] = [];
  readonly #answers = new Map<number, Buffer>();
  readonly #socket: WebSocket;
  /** False: the agent gets no credit beyond its first window. */
  grants = true;
  isClosed = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => (this.isClosed = true));
  }

  send(message: CoordinatorMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Opens a job on this stream; the claim is `claim-<stream>` unless the changes name another. */
  open(stream: number, changes: Partial<Message<'OPEN'>> = {}, body = BODY): void {
    const claim = `claim-${stream}`;
    this.send({
      t: 'OPEN',
      stream,
      kind: 'job',
      endpoint: 'chat',
      service_id: 'llm-1',
      model: 'tiny',
      caller: { name: 'Anna', own: true },
      body: { bytes: Buffer.byteLength(body) },
      deadline_ms: 0,
      job_id: `job-of-${claim}`,
      claim_id: claim,
      attempt: 1,
      request_id: `req_${stream}`,
      ...changes,
    });
    if (body !== '') this.#socket.send(encodeData(stream, Buffer.from(body)));
  }

  /** The bytes of the answer on this stream so far. */
  answer(stream: number): string {
    return this.#answers.get(stream)?.toString() ?? '';
  }

  /** What was said on this stream, less the bytes. */
  said(stream: number): AgentMessage[] {
    return this.messages.filter((one) => 'stream' in one && one.stream === stream);
  }

  all<T extends AgentMessage['t']>(tag: T): Received<T>[] {
    return this.messages.filter((one): one is Received<T> => one.t === tag);
  }

  /** END, RESET or REJECT of this stream, once it came. */
  lastWord(stream: number): Promise<AgentMessage> {
    const what = `last word of ${stream}`;
    return until(() => this.said(stream).find(({ t }) => LAST_WORDS.has(t)), { what });
  }

  acknowledge(claimId: string, verdict: Message<'RESULT_ACK'>['verdict'] = 'stored'): void {
    this.send({ t: 'RESULT_ACK', claim_id: claimId, verdict });
  }

  grant(stream: number, credit: number): void {
    this.#socket.send(encodeWindow(stream, credit));
  }

  cut(): void {
    this.#socket.terminate();
  }

  /** Stops reading from the agent: its messages pile up there. */
  stopReading(): void {
    this.#socket.pause();
  }

  received(data: Buffer, isBinary: boolean): void {
    if (isBinary) return this.#frame(data);
    const decoded = decodeAgentMessage(data.toString());
    if (decoded.kind !== 'message') throw new Error(`the agent sent ${data.toString()}`);
    this.messages.push(decoded.message);
  }

  #frame(data: Buffer): void {
    const frame = decodeFrame(data);
    if (frame?.kind !== 'data') return;
    const before = this.#answers.get(frame.stream) ?? Buffer.alloc(0);
    this.#answers.set(frame.stream, Buffer.concat([before, frame.bytes]));
    if (this.grants) this.grant(frame.stream, frame.bytes.length);
  }
}

export function welcome(resume: Resume, heartbeatS = 15): Message<'WELCOME'> {
  return {
    t: 'WELCOME',
    session_id: 'session',
    provider_id: 'provider',
    name: 'den-pc',
    ping_s: 15,
    dead_s: 40,
    heartbeat_s: heartbeatS,
    lease_s: 60,
    limits: { window_bytes: 256 * 1024, max_streams: 1024 },
    server_time: 0,
    resume,
  };
}

export const BODY = JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'hi' }] });
export const STREAMED_BODY = BODY.replace('{', '{"stream":true,');

export class ScriptedCoordinator {
  origin = '';
  readonly links: ScriptedLink[] = [];
  /** What WELCOME says of the claims that HELLO offered. */
  decide: (offers: Offers) => Resume = () => [];
  heartbeatS = 15;
  /** Links are cut before they are welcomed. */
  isAway = false;

  get hellos(): Received<'HELLO'>[] {
    return this.links.flatMap((link) => link.all('HELLO'));
  }

  /** The link of this number, from 0, once it was welcomed. */
  async link(number: number): Promise<ScriptedLink> {
    return until(() => (this.hellos.length > number ? this.links[number] : undefined), {
      what: `link ${number}`,
    });
  }

  async listen(): Promise<this> {
    const server = createServer();
    new WebSocketServer({ server }).on('connection', (socket) => this.#connected(socket));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestFinished(() => {
      for (const link of this.links) link.cut();
      server.close();
    });
    return this;
  }

  #connected(socket: WebSocket): void {
    if (this.isAway) return socket.terminate();
    const link = new ScriptedLink(socket);
    this.links.push(link);
    socket.on('message', (data: Buffer, isBinary) => {
      link.received(data, isBinary);
      const last = link.messages.at(-1);
      if (!isBinary && last?.t === 'HELLO') this.#welcome(link, last.resume);
    });
    return undefined;
  }

  #welcome(link: ScriptedLink, offers: Offers): void {
    link.send(welcome(this.decide(offers), this.heartbeatS));
  }
}
