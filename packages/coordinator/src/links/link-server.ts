/**
 * Accepts agents: the upgrade, the token, the version, HELLO. Until a link is attached it costs one
 * socket and one timer.
 */
import { readBearer } from '@inference-gateway/shared/bearer';
import { isSecret } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import {
  CLOSE,
  CONNECT_PATH,
  LINK,
  PROTOCOL_VERSION,
  SOCKET_OPTIONS,
  SUBPROTOCOL,
} from '@inference-gateway/shared/protocol/version';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import type { ClaimKeeper } from '../core/routing/links.js';
import type { Provider } from '../store/port.js';
import { AgentLink } from './agent-link.js';
import type { AgentLinkTiming } from './agent-link.js';
import type { Registry } from './registry.js';

interface LinkServerOptions {
  readonly registry: Registry;
  readonly timing: AgentLinkTiming;
  readonly claims: ClaimKeeper;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The provider that an agent's token belongs to. */
  readonly findProvider: (token: string) => Promise<Provider | null>;
}

/** A provider whose agent may send HELLO, with the registry time of its admission. */
interface Admitted {
  readonly provider: Provider;
  readonly at: number;
}

interface OpenLink {
  readonly socket: WebSocket;
  /** The TCP stream under the socket. */
  readonly stream: Duplex;
}

interface Refusal {
  readonly status:
    | '401 Unauthorized'
    | '403 Forbidden'
    | '404 Not Found'
    | '426 Upgrade Required'
    | '503 Service Unavailable';
  readonly body: object;
  readonly headers?: string;
}

export class LinkServer {
  readonly #options: LinkServerOptions;
  readonly #server = new WebSocketServer({
    ...SOCKET_OPTIONS,
    noServer: true,
    handleProtocols: () => SUBPROTOCOL,
  });
  #closing = false;

  constructor(options: LinkServerOptions) {
    this.#options = options;
  }

  /** The `upgrade` listener of the HTTP server. */
  readonly upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    // Without this listener, a reset of an unauthenticated connection would crash the process.
    stream.on('error', () => stream.destroy());
    const at = this.#options.registry.time;
    void this.#admit(request).then((provider) => {
      if ('status' in provider) return refuse(stream, provider);
      return this.#server.handleUpgrade(request, stream, head, (socket) => {
        this.#greet({ socket, stream }, { provider, at });
      });
    });
  };

  /** Refuses new links from now on. */
  close(): void {
    this.#closing = true;
  }

  async #admit(request: IncomingMessage): Promise<Provider | Refusal> {
    if (request.url?.split('?')[0] !== CONNECT_PATH) {
      return { status: '404 Not Found', body: { error: `agents connect at ${CONNECT_PATH}` } };
    }
    if (this.#closing || this.#options.registry.isLeaving) {
      const body = { error: 'the coordinator is shutting down' };
      return { status: '503 Service Unavailable', body, headers: RETRY_SOON };
    }
    const offered = request.headers['sec-websocket-protocol']?.split(',') ?? [];
    if (!offered.some((name) => name.trim() === SUBPROTOCOL)) {
      const body = { error: 'no common version', min: PROTOCOL_VERSION, max: PROTOCOL_VERSION };
      return { status: '426 Upgrade Required', body };
    }
    return this.#authenticate(request.headers.authorization);
  }

  /**
   * An agent that gets 401 gives up for good, so 401 is sent only if the token is certainly wrong.
   */
  async #authenticate(authorization: string | undefined): Promise<Provider | Refusal> {
    const token = readBearer(authorization);
    if (token === null || !isSecret('gwa', token)) return UNKNOWN_TOKEN;
    try {
      const provider = await this.#options.findProvider(token);
      if (provider?.isOwnerDisabled === true) return DISABLED;
      return provider ?? UNKNOWN_TOKEN;
    } catch (err) {
      this.#options.logger.error({ err }, 'cannot look up an agent token');
      const body = { error: 'the coordinator cannot use its database now' };
      return { status: '503 Service Unavailable', body, headers: RETRY_SOON };
    }
  }

  /**
   * Waits for HELLO. The listeners must be attached in this turn of the event loop: later ones
   * would miss the first frame.
   */
  #greet(opened: OpenLink, admitted: Admitted): void {
    const { socket } = opened;
    const { provider } = admitted;
    socket.on('error', (error) => {
      this.#options.logger.warn({ provider: provider.id, reason: error.message }, 'link error');
    });
    const timer = setTimeout(
      () => socket.close(CLOSE.helloTimeout, 'no HELLO within 10 s'),
      LINK.helloTimeoutMs,
    );
    socket.once('close', () => clearTimeout(timer));
    socket.once('message', (data, isBinary) => {
      clearTimeout(timer);
      const hello = isBinary ? null : readHello(data);
      if (hello === null) socket.close(CLOSE.protocolError, 'the first message must be a HELLO');
      else void this.#attach(opened, admitted, hello);
    });
  }

  async #attach(opened: OpenLink, admitted: Admitted, hello: Message<'HELLO'>): Promise<void> {
    const { registry, timing, claims, now, logger } = this.#options;
    const { provider, at: admittedAt } = admitted;
    const link = new AgentLink({ ...opened, hello, provider, timing, now, logger });
    const outcome = await registry
      .attach(link, provider, { timing, claims, admittedAt })
      .catch((err: unknown) => {
        logger.error({ err, provider: provider.id }, 'cannot look up the claims of an agent');
        link.close(CLOSE.overload, 'the coordinator cannot use its database now');
        return 'gone' as const;
      });
    if (outcome === 'gone') return;
    if (outcome === 'duplicate') {
      link.close(CLOSE.duplicateInstance, 'a second copy of this agent is running');
      return;
    }
    const models = hello.services.flatMap((service) => service.models).length;
    logger.info({ provider: provider.id, name: provider.name, models }, 'agent connected');
  }
}

const UNKNOWN_TOKEN: Refusal = {
  status: '401 Unauthorized',
  body: { error: 'unknown agent token' },
};
const DISABLED: Refusal = {
  status: '403 Forbidden',
  body: { error: 'the owner of this provider is disabled' },
  headers: 'Retry-After: 300\r\n',
};
const RETRY_SOON = 'Retry-After: 5\r\n';

function readHello(data: RawData): Message<'HELLO'> | null {
  const decoded = decodeAgentMessage((data as Buffer).toString());
  return decoded.kind === 'message' && decoded.message.t === 'HELLO' ? decoded.message : null;
}

function refuse(stream: Duplex, { status, body, headers = '' }: Refusal): void {
  const text = JSON.stringify(body);
  // No HTTP timeout applies to an upgraded socket: without this, a client could keep its half of
  // the connection open for ever.
  stream.once('finish', () => stream.destroy());
  stream.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
