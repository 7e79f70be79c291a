/**
 * The least that a proxy in Node can do: `node:http` in, `node:http` out, connections kept alive.
 */
import { Agent, createServer, request } from 'node:http';
import { listen } from './listen.js';

const target = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

const server = createServer((incoming, response) => {
  const { method = 'GET', url: path = '/', headers } = incoming;
  const options = { host: target.hostname, port: target.port, method, path, headers, agent };
  const outgoing = request(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
});
listen(server);
