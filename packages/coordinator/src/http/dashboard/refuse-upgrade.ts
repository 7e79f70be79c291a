/** Says over HTTP why a socket is not opened, as every other error is said. */
import type { ApiError } from '@inference-gateway/shared/errors';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export function refuseUpgrade(stream: Duplex, error: ApiError): void {
  const { status, body, retryAfterS } = error;
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(retryAfterS === undefined ? [] : [`Retry-After: ${Math.ceil(retryAfterS)}`]),
    'Connection: close',
  ];
  // No HTTP timeout watches an upgraded socket: a stranger could keep its own half open for ever.
  stream.once('finish', () => stream.destroy());
  stream.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
