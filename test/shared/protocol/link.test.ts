/** Both ends of a link over a real socket: their common part, and the agent's end. */
import { encodeData, encodeMessage, encodeWindow } from '@inference-gateway/shared/protocol/frames';
import { dial } from '@inference-gateway/shared/protocol/dial';
import { AgentEnd, Link, ProtocolViolation } from '@inference-gateway/shared/protocol/link';
import type {
  AgentEndStream,
  AgentWork,
  LinkedAgent,
  LinkStream,
  StreamWork,
} from '@inference-gateway/shared/protocol/link';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { CLOSE, LINK } from '@inference-gateway/shared/protocol/version';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { promotedShare } from '../../support/promotion.js';
import { until } from '../../support/until.js';
import { welcome } from '../../agent/link/scripted-coordinator.js';

const TIMING = { pingMs: 15_000, deadMs: 40_000 };

/** Counts the bytes of its stream. */
class KeptWork implements StreamWork {
  readonly stream: LinkStream<never>;
  received = 0;
  abandoned = 0;

  constructor(stream: LinkStream<never>) {
    this.stream = stream;
  }

  receive(bytes: Uint8Array): void {
    this.received += bytes.length;
  }

  abandon(): void {
    this.abandoned += 1;
  }

  cancel(): void {
    this.stream.close();
  }
}

/** The coordinator's end, and the events that it reports. */
function coordinatorEnd(socket: WebSocket, stream: Duplex) {
  const told: string[] = [];
  const messages: AgentMessage[] = [];
  const heard: Buffer[] = [];
  stream.on('data', (piece: Buffer) => heard.push(piece));
  const link = new Link<AgentMessage, CoordinatorMessage, KeptWork>(
    { socket, stream },
    {
      highWaterBytes: LINK.coordinatorHighWaterBytes,
      timing: TIMING,
      decode: decodeAgentMessage,
      message(message, bytes) {
        if (message.t === 'DRAIN') throw new TypeError('ours');
        if (bytes.length > 0) told.push(`${message.t} with "${String(Buffer.from(bytes))}"`);
        messages.push(message);
      },
      unknownStream(id) {
        throw new ProtocolViolation(`stream ${id} is not open`);
      },
      violated: (reason) => told.push(reason),
      failed: (error) => told.push(`failed: ${String(error)}`),
      silent: () => told.push('silent'),
      closed: (code) => told.push(`closed ${code}`),
    },
  );
  const open = (id: number): KeptWork => link.open(id, (one) => new KeptWork(one));
  return { link, told, messages, open, heard };
}

/** An agent that accepts all work and does nothing with it. */
class TakingAgent implements LinkedAgent {
  services: ReturnType<LinkedAgent['served']>['services'] = [];
  readonly version = '0';
  readonly instanceId = 'instance';
  readonly works: KeptWork[] = [];
  readonly faults: string[] = [];
  beats = 0;

  served(): ReturnType<LinkedAgent['served']> {
    return { services: this.services, host: { os: 'linux', arch: 'x64', gpus: [] } };
  }

  offers(): [] {
    return [];
  }

  heartbeat(): ReturnType<LinkedAgent['heartbeat']> {
    this.beats += 1;
    return { slots: [], claims: [], accepts: 'all' };
  }

  welcomed(_: Message<'WELCOME'>, end: AgentEnd): void {
    end.beat();
  }

  opened({ model }: Message<'OPEN'>, stream: AgentEndStream): AgentWork {
    const work = new KeptWork(stream);
    this.works.push(work);
    if (model === 'refused') {
      stream.say({ t: 'REJECT', reason: 'no_model' });
      stream.close();
    }
    return work;
  }

  acknowledged(): void {}

  lost(): void {}

  violated(reason: string): void {
    this.faults.push(reason);
  }
}

/** A link between two ends; `raw` is the agent's socket. */
async function linked(services: TakingAgent['services'] = []) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  let there: ReturnType<typeof coordinatorEnd> | undefined;
  server.on('connection', (socket, { socket: stream }) => {
    there = coordinatorEnd(socket, stream);
  });
  await until(() => server.address() !== null);
  const { port } = server.address() as AddressInfo;
  const place = { origin: `http://127.0.0.1:${port}`, token: 'token' };
  const opened = await dial(WebSocket, place).dialed;
  if (opened.kind !== 'open') throw new Error(`not open: ${opened.kind}`);
  const agent = new TakingAgent();
  agent.services = services;
  const end = new AgentEnd(opened, agent);
  const raw = opened.socket as WebSocket;
  const coordinator = await until(() => there);
  await until(() => coordinator.messages.some(({ t }) => t === 'HELLO'));
  return { ...coordinator, coordinator, agent, end, raw };
}

const OPEN: Message<'OPEN'> = {
  t: 'OPEN',
  stream: 1,
  kind: 'sync',
  endpoint: 'chat',
  service_id: 'llm-0',
  model: 'm',
  caller: { name: 'Anna', own: true },
  deadline_ms: 0,
  attempt: 1,
  request_id: 'req_1',
};

describe('an end of a link', () => {
  test.each([
    ['a text frame that is no message', '{"t":1}', 'a text frame is a JSON object with a tag "t"'],
    ['a binary message that is no frame', Buffer.of(9), 'a binary message that is no frame'],
    ['bytes of a stream that is not open', encodeData(7, Buffer.of(1)), 'stream 7 is not open'],
    ['credit for a stream that is not open', encodeWindow(7, 1), 'stream 7 is not open'],
  ])('is closed with 4000 by %s', async (_what, frame, reason) => {
    const { raw, told, link, end } = await linked();
    raw.send(frame);
    expect(await end.ended).toMatchObject({ code: CLOSE.protocolError, reason });
    await link.closed;
    expect(told).toEqual([reason, `closed ${CLOSE.protocolError}`]);
  });

  test('tells each stream once that it has ended, and at once when it is closed here', async () => {
    const { link, open } = await linked();
    const [one, other] = [open(1), open(2)];
    other.stream.close();
    link.close(CLOSE.restart, 'a test');
    expect([one.abandoned, other.abandoned, link.size]).toEqual([1, 0, 0]);
    expect(one.stream.isOpen).toBe(false);
    await link.closed;
    expect(one.abandoned).toBe(1);
  });

  test('hears nothing more once it is closing', async () => {
    const { link, open, raw } = await linked();
    const work = open(1);
    link.close(CLOSE.restart, 'a test');
    raw.send(encodeData(1, Buffer.of(1)));
    await link.closed;
    expect(work.received).toBe(0);
  });

  test('leaves a fault of its own to its role', async () => {
    const { end, told, link } = await linked();
    end.drain(0);
    await until(() => told.length > 0);
    expect(told).toEqual(['failed: TypeError: ours']);
    expect(link.isOpen).toBe(true);
  });

  test('sends bytes as far as the other end grants credit', async () => {
    const { link, open, agent } = await linked();
    link.send(OPEN);
    open(1).stream.out.data(Buffer.alloc(LINK.windowBytes * 2));
    await until(() => agent.works[0]?.received === LINK.windowBytes);
    const [work] = agent.works;
    expect(work?.stream.hadCredit(LINK.windowBytes)).toBe(true);
    work?.stream.consumed(LINK.windowBytes);
    await until(() => work?.received === LINK.windowBytes * 2);
  });

  test('sends a message with its bytes in one frame to an end that reads such frames', async () => {
    const { link, open, agent, told, end } = await linked();
    const { stream } = open(1);
    const { stream: _, ...asked } = OPEN;
    expect(stream.sayWith(asked as never, Buffer.from('early'))).toBe(false);
    link.peerFeatures = new Set(['message-frames']);
    expect(stream.sayWith(asked as never, Buffer.alloc(LINK.maxInlineBytes + 1))).toBe(false);
    expect(stream.sayWith(asked as never, Buffer.from('body'))).toBe(true);
    const work = await until(() => agent.works[0]);
    expect(work.received).toBe(4);
    const there: AgentEndStream = work.stream;
    const answer = { t: 'ANSWER', status: 200, content_type: 'application/json' } as const;
    expect(there.sayWith(answer, Buffer.from('{}'))).toBe(false);
    link.send({ ...welcome([]), features: ['message-frames'] });
    await until(() => agent.beats > 0);
    expect(there.sayWith(answer, Buffer.from('{}'))).toBe(true);
    await until(() => told.includes('ANSWER with "{}"'));
    // Its bytes have cost credit, and those of a closed stream are not sent.
    expect(there.out.hasCredit(LINK.windowBytes - 2)).toBe(true);
    expect(there.out.hasCredit(LINK.windowBytes - 1)).toBe(false);
    work.stream.close();
    expect(there.sayWith(answer, Buffer.from('{}'))).toBe(false);
    end.close(CLOSE.normal, 'over');
  });

  test('is closed with 4000 where a message has bytes that belong to none', async () => {
    const { link, end, agent } = await linked();
    const goaway = { t: 'GOAWAY', retry_after_ms: 1, reason: 'x' };
    link.control(encodeMessage(1, JSON.stringify(goaway), Buffer.from('xyz')));
    const reason = 'GOAWAY with 3 bytes in its frame';
    expect(await end.ended).toMatchObject({ code: CLOSE.protocolError, reason });
    expect(agent.faults).toEqual([reason]);
  });

  test('says and grants nothing on a stream that is closed', async () => {
    const { agent, link, messages, end } = await linked();
    link.send({ ...OPEN, model: 'refused' });
    await until(() => messages.some(({ t }) => t === 'REJECT'));
    const [work] = agent.works as unknown as { stream: AgentEndStream }[];
    work?.stream.say({ t: 'ACCEPT' });
    work?.stream.sayInOrder({ t: 'END', ok: true });
    work?.stream.consumed(LINK.windowBytes);
    end.announceServices();
    await until(() => messages.some(({ t }) => t === 'SERVICES'));
    expect(messages.map(({ t }) => t)).toEqual(['HELLO', 'REJECT', 'SERVICES']);
  });
});

describe('the end of an agent', () => {
  test('masks nothing: its bytes are inside TLS, or stay on this machine', async () => {
    const { heard } = await linked();
    expect(Buffer.concat(heard).toString('latin1')).toContain('"agent_version":"0"');
  });

  test.each([
    ['an older coordinator', undefined, []],
    ['one that knows them', ['vector-services', 'later'], [['llm', 'embedding', 'rerank']]],
  ])('tells %s of services of types that were added', async (_, features, lists) => {
    const types = ['llm', 'embedding', 'rerank'] as const;
    const { link, agent, messages, end } = await linked(
      types.map((type) => ({ service_id: type, service_type: type, slots: 1, models: [] })),
    );
    link.send({ ...welcome([]), ...(features && { features }) });
    await until(() => agent.beats > 0);
    const told = () =>
      messages.flatMap((message) => {
        if (message.t !== 'HELLO' && message.t !== 'SERVICES') return [];
        return [message.services.map(({ service_type: type }) => type)];
      });
    await until(() => told().length === 1 + lists.length);
    expect(told()).toEqual([['llm'], ...lists]);
    end.announceServices();
    await until(() => told().length === 2 + lists.length);
    expect(told().at(-1)).toEqual(lists[0] ?? ['llm']);
  });

  test('says in HELLO what it knows beyond the first version', async () => {
    const { messages } = await linked();
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({
      t: 'HELLO',
      features: ['token-counting', 'message-frames'],
    });
  });

  test('gives work that it refused at once no stream: its frames are late, not wrong', async () => {
    const { link, agent, messages } = await linked();
    link.send({ ...OPEN, model: 'refused' });
    link.control(encodeData(1, Buffer.of(1)));
    link.send(OPEN);
    link.control(encodeData(1, Buffer.of(1)));
    await until(() => agent.works[1]?.received === 1 && messages.length > 1);
    expect(agent.works[0]?.received).toBe(0);
    expect(messages.map(({ t }) => t)).toEqual(['HELLO', 'REJECT']);
  });

  test('is closed with 4000 where a stream is opened twice', async () => {
    const { link, agent, end } = await linked();
    link.send(OPEN);
    link.send(OPEN);
    const reason = 'stream 1 is open already';
    expect(await end.ended).toMatchObject({ code: CLOSE.protocolError, reason });
    expect(agent.faults).toEqual([reason]);
    expect(agent.works.map(({ abandoned }) => abandoned)).toEqual([1]);
  });

  test('beats only after WELCOME, and then as often as it says', async () => {
    const { link, agent, end, messages } = await linked();
    end.beat();
    expect(agent.beats).toBe(0);
    link.send(welcome([], 0.01));
    await until(() => agent.beats > 2);
    expect(messages[1]).toMatchObject({ t: 'HEARTBEAT', seq: 1 });
  });

  test('tells how long GOAWAY asked it to stay away', async () => {
    const { link, end } = await linked();
    link.send({ t: 'GOAWAY', retry_after_ms: 1_500, reason: 'a test' });
    link.close(CLOSE.restart, 'a test');
    expect(await end.ended).toEqual({
      kind: 'closed',
      code: CLOSE.restart,
      reason: 'a test',
      retryAfterMs: 1_500,
    });
  });

  test('notices that the other end is gone without a word', async () => {
    const { coordinator, end } = await linked();
    coordinator.link.terminate();
    expect(await end.ended).toMatchObject({ code: 1006 });
  });
});

test('the table of streams does not keep the work of those that have ended', async () => {
  const { link } = await linked();
  let id = 1_000;
  const share = promotedShare((payload) => {
    const work = link.open(++id, (stream) => Object.assign(new KeptWork(stream), { payload }));
    return () => work.stream.close();
  });
  expect(share).toBeLessThan(0.3);
});
