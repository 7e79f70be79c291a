/** One POST to one receiver. */
import { Webhook } from 'standardwebhooks';
import type { LookupAddress } from 'node:dns';
import { request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Refusal, pinnedTo } from './receiver.js';

/** Bytes of the answer's body that are read and dropped. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface Message {
  /** Id of the delivery: the same for every attempt. */
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly body: string;
  readonly sentAt: Date;
}

export interface Route {
  readonly addresses: readonly LookupAddress[];
  readonly userAgent: string;
  /** Certificates that are trusted instead of Node's own. */
  readonly ca?: string | undefined;
}

/**
 * Resolves with the status of the answer, once its body has ended, is too long, or the signal is
 * aborted. Redirects are answers like any other. Throws if no answer comes.
 */
export function postWebhook(message: Message, route: Route, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = open(message, route, signal);
    let status: number | null = null;
    const settle = (error: Error): void => (status === null ? reject(error) : resolve(status));
    request.once('response', (response) => {
      status = response.statusCode ?? 0;
      drop(response, () => settle(new Refusal('the answer has no status')));
    });
    request.on('error', settle);
    // An answer with status 101 would end the connection without an error.
    request.once('close', () => settle(new Refusal('the connection ended without an answer')));
    request.end(message.body);
  });
}

function open(message: Message, route: Route, signal: AbortSignal) {
  const { id, url, secret, body, sentAt } = message;
  const send: typeof requestHttp = url.startsWith('https:') ? requestHttps : requestHttp;
  const options = {
    method: 'POST',
    // A new connection, to an address that was checked for it.
    agent: false,
    lookup: pinnedTo(route.addresses),
    signal,
    ...(route.ca === undefined ? {} : { ca: route.ca }),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': route.userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
    },
  } as const;
  const request: ClientRequest = send(new URL(url), options);
  return request;
}

function drop(response: IncomingMessage, onEnd: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  // Errors from here on concern only the rest of the body: the status has arrived.
  response.on('error', onEnd);
  response.once('close', onEnd);
}
