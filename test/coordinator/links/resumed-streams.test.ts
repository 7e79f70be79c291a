/** The messages that an agent gets about the claims that it resumes, and their order. */
import { AgentLink } from '@inference-gateway/coordinator/links/agent-link';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { CoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { WebSocket } from 'ws';
import { HELLO } from '../../support/raw-agent.js';

/** Keeps the messages sent to it. */
class OpenSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  readonly sent: CoordinatorMessage[] = [];

  send(frame: string): void {
    this.sent.push(JSON.parse(frame) as CoordinatorMessage);
  }
}

const nothing = (): void => {};

test('a claim that was canceled meanwhile is stopped after WELCOME has named its stream', () => {
  const socket = new OpenSocket();
  onTestFinished(() => void socket.emit('close', 1000));
  const timing = { pingMs: 15_000, deadMs: 40_000, acceptMs: 5_000, jobLeaseMs: 60_000 };
  const provider = { id: 'p', name: 'den-pc' };
  const link = new AgentLink({
    socket: socket as unknown as WebSocket,
    stream: new PassThrough(),
    hello: HELLO,
    provider,
    timing,
    now: Date.now,
    logger: createLogger('silent'),
  });
  const handler = {
    accepted: nothing,
    progress: nothing,
    head: nothing,
    part: nothing,
    data: nothing,
    end: nothing,
    fail: nothing,
    stopped: nothing,
  };
  const events = {
    servicesChanged: nothing,
    acceptsChanged: nothing,
    heard: nothing,
    slotFreed: nothing,
    renew: async () => [],
    closed: nothing,
  };
  const resumed = { claimId: 'c', action: 'continue', serviceId: 'llm-0', shareId: null } as const;
  link.welcome({
    provider,
    timing,
    events,
    resumptions: [{ ...resumed, handler, begin: (exchange) => exchange.cancel('CANCELED') }],
  });
  expect(socket.sent).toMatchObject([
    { t: 'WELCOME', resume: [{ claim_id: 'c', action: 'continue', stream: 1 }] },
    { t: 'RESET', stream: 1, code: 'CANCELED' },
  ]);
});
