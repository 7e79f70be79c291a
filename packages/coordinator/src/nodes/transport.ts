/**
 * Connections between coordinators: WebSockets over TLS 1.3, where both ends prove with a key from
 * the database that they belong to it (RFC 8446, external pre-shared keys with a key exchange). No
 * certificates: the name of the other end does not matter, and its key is nobody else's.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import {
  NODE_LINK,
  NODE_SUBPROTOCOL,
  streamIn,
} from '@inference-gateway/shared/protocol/node-messages';
import type { OpenSocket } from '@inference-gateway/shared/protocol/socket';
import { SOCKET_OPTIONS } from '@inference-gateway/shared/protocol/version';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { WebSocket, WebSocketServer } from 'ws';
import type { NodeKey } from '../store/port.js';

/** The one of TLS 1.3 whose hash Node's pre-shared keys use. */
const TLS = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const;

const OPTIONS = { ...SOCKET_OPTIONS, maxPayload: NODE_LINK.maxPayload };

interface ServerParts {
  readonly listen: { readonly host: string | undefined; readonly port: number };
  /** Those that are accepted now. */
  readonly keys: () => readonly NodeKey[];
  readonly onLink: (opened: OpenSocket & { readonly socket: WebSocket }) => void;
  readonly logger: Logger;
}

export interface NodeServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with Node's own error if listening fails. */
export async function listenForNodes(parts: ServerParts): Promise<NodeServer> {
  const { listen, keys, onLink, logger } = parts;
  const server = createServer({
    ...TLS,
    pskCallback: (_, identity) => {
      const key = keys().find(({ id }) => id === identity);
      return key === undefined ? null : Buffer.from(key.secret);
    },
    handshakeTimeout: NODE_LINK.dialTimeoutMs,
  });
  const sockets = new WebSocketServer({
    ...OPTIONS,
    noServer: true,
    handleProtocols: () => NODE_SUBPROTOCOL,
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    logger.warn({ reason: error.code ?? error.message }, 'a stranger was refused as a node');
  });
  server.on('request', (_, response) => response.writeHead(404).end());
  server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy());
    if (request.url !== NODE_LINK.path) return stream.destroy();
    return sockets.handleUpgrade(request, stream, head, (socket) => onLink({ socket, stream }));
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(listen, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Null if the other end cannot be reached, or has no such key: the error goes to `onFault`. */
export function dialNode(
  url: string,
  key: NodeKey,
  onFault: (reason: string) => void,
): Promise<OpenSocket | null> {
  const socket = new WebSocket(new URL(NODE_LINK.path, url), NODE_SUBPROTOCOL, {
    ...OPTIONS,
    // Nobody between the two ends of TLS reads it.
    generateMask: (mask: Buffer) => void mask.fill(0),
    createConnection: () => connectWith(key, new URL(url)),
  });
  return new Promise((resolve) => {
    // That of `ws` is for connections that it makes itself.
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      socket.terminate();
    }, NODE_LINK.dialTimeoutMs);
    socket.once('upgrade', ({ socket: stream }) => {
      // In this turn of the event loop: a later listener would miss the first frame.
      socket.once('open', () => {
        clearTimeout(late);
        resolve({ socket, stream });
      });
    });
    // Stays: an error event without a listener ends the process.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(late);
      onFault(isLate ? NO_ANSWER : (error.code ?? error.message));
      resolve(null);
    });
  });
}

const NO_ANSWER = `no answer within ${NODE_LINK.dialTimeoutMs / 1_000} s`;

/**
 * For `malformed` of a link: a coordinator of another version, or what an agent of it has said,
 * must not cost it the link, and all others their calls. `act` gets a message of a stream.
 */
export function ignoring(
  { logger, peer }: { readonly logger: Logger; readonly peer: string },
  act: (stream: number, tag: string) => void,
): (reason: string, text: string) => void {
  let ignored = 0;
  return (reason, text) => {
    ignored += 1;
    if (ignored <= MAX_TOLD) logger.warn({ peer, reason }, 'ignored a message of a coordinator');
    const of = streamIn(text);
    if (of !== null) act(of.stream, of.tag);
  };
}

/** Of one link, so that a log stays readable. */
const MAX_TOLD = 10;

function connectWith(key: NodeKey, { hostname, port }: URL): TLSSocket {
  return connect({
    ...TLS,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || HTTPS_PORT,
    pskCallback: () => ({ identity: key.id, psk: Buffer.from(key.secret) }),
  });
}

const HTTPS_PORT = 443;
