/**
 * Runs the agent and appends to the file in the first argument, one a line, every address that the
 * agent connects to, every name that it looks up, and every program that it starts.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const [file = ''] = process.argv.splice(2, 1);
const record = (/** @type {string} */ line) => appendFileSync(file, `${line}\n`);

// eslint-disable-next-line typescript/unbound-method -- It is called with its own `this` below.
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function recorded(...args) {
  // Node's own callers pass the arguments in a list.
  const [first, host] = Array.isArray(args[0]) ? args[0] : args;
  const { path, host: named, port } = typeof first === 'object' ? first : { port: first, host };
  record(
    path === undefined || path === null ? `connect ${named ?? 'localhost'}:${port}` : 'socket',
  );
  return Reflect.apply(connect, this, args);
};
const { lookup } = dns;
dns.lookup = Object.assign((/** @type {string} */ name, /** @type {any[]} */ ...rest) => {
  record(`lookup ${name}`);
  return Reflect.apply(lookup, dns, [name, ...rest]);
}, lookup);
for (const way of /** @type {const} */ (['spawn', 'execFile', 'exec', 'fork', 'spawnSync'])) {
  const original = childProcess[way];
  childProcess[way] = /** @type {any} */ (
    (/** @type {string} */ program, /** @type {any[]} */ ...rest) => {
      record(`start ${program}`);
      return Reflect.apply(original, childProcess, [program, ...rest]);
    }
  );
}
const { createSocket } = dgram;
dgram.createSocket = (...args) => {
  record('datagram');
  return Reflect.apply(createSocket, dgram, args);
};
syncBuiltinESMExports();

const { runProgram } = await import('@inference-gateway/shared/program/run-program');
const { createProgram } = await import('@inference-gateway/agent/cli/program');
await runProgram(createProgram(), process.argv);
