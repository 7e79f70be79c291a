/**
 * Records the requests that every HTTP server of this process receives, and how many at the same
 * time. Each answer is delayed a little, so that overlapping requests are seen.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface SeenRequest {
  readonly port: number;
  readonly method: string;
  readonly url: string;
  readonly host: string;
}

export interface ServerWatch {
  readonly requests: readonly SeenRequest[];
  /** By port: the most requests that were in progress at one time. */
  readonly mostAtOnce: ReadonlyMap<number, number>;
}

const ANSWER_MS = 3;

interface Started {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

/** Watches until the test ends. */
export function watchServers(): ServerWatch {
  const requests: SeenRequest[] = [];
  const underWay = new Map<number, number>();
  const mostAtOnce = new Map<number, number>();
  const onStart = (message: unknown): void => {
    const { request, response, server } = message as Started;
    const { port } = server.address() as AddressInfo;
    const { method = '', url = '', headers } = request;
    requests.push({ port, method, url, host: headers.host ?? '' });
    const now = (underWay.get(port) ?? 0) + 1;
    underWay.set(port, now);
    mostAtOnce.set(port, Math.max(now, mostAtOnce.get(port) ?? 0));
    response.once('close', () => underWay.set(port, (underWay.get(port) ?? 1) - 1));
    slow(response);
  };
  subscribe('http.server.request.start', onStart);
  onTestFinished(() => void unsubscribe('http.server.request.start', onStart));
  return { requests, mostAtOnce };
}

function slow(response: ServerResponse): void {
  const end = response.end.bind(response) as (...args: unknown[]) => unknown;
  const later = (...args: unknown[]): ServerResponse => {
    setTimeout(() => end(...args), ANSWER_MS);
    return response;
  };
  Object.assign(response, { end: later });
}
