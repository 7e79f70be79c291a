/**
 * Measures a program from within. Node loads it with `--import`, before the program's own modules,
 * in every thread. Its commands come over a local socket (`counterSocket`), one a connection:
 *
 * - `begin counts`, `end counts`: how often each thing below happened, and how many bytes of what.
 *   Counting slows the program.
 * - `begin cpu`, `end cpu`: shares of the main thread's CPU time, by part of the program.
 * - `begin heap`, `end heap`: bytes that it allocates, by part. This slows the program, too.
 */
import { createHook } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { createServer, Socket } from 'node:net';
import { BroadcastChannel, isMainThread, MessagePort, Worker } from 'node:worker_threads';
import { repositoryFile } from '../processes.js';
import { counterSocket } from './counter-socket.js';
import type { Counts, Sums } from './counter-socket.js';
import { bytesByPart, sharesByPart } from './parts.js';

/** How often a profile looks at the stack, in µs. */
const CPU_INTERVAL_US = 1_000;
/** One of so many allocated bytes is looked at. */
const ALLOCATION_INTERVAL = 16 * 1024;
/** The time in which threads answer. */
const THREADS_MS = 200;

// What is counted.

let counts: Counts = {};

function count(what: string, bytes = 0): void {
  const seen = (counts[what] ??= { times: 0, bytes: 0 });
  seen.times += 1;
  seen.bytes += bytes;
}

const RESOURCES: Readonly<Record<string, string>> = {
  PROMISE: 'promises',
  Timeout: 'timers',
  Immediate: 'immediates',
  TickObject: 'ticks',
};
const resources = createHook({
  init: (_, type) => {
    const what = RESOURCES[type];
    if (what !== undefined) count(what);
  },
});

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/** Each replaced function, for its return. */
const replaced: (() => void)[] = [];

function watch(owner: object, name: string, see: (result: unknown, args: unknown[]) => void): void {
  const holder = owner as Record<string, Callable>;
  const original = holder[name];
  if (original === undefined) return;
  holder[name] = function watched(this: unknown, ...args) {
    const result = new.target ? Reflect.construct(original, args) : original.apply(this, args);
    see(result, args);
    return result;
  };
  Object.assign(holder[name], { prototype: original.prototype as unknown });
  replaced.push(() => (holder[name] = original));
}

function beginCounts(): void {
  counts = {};
  resources.enable();
  watch(JSON, 'parse', (_, [text]) => count('JSON.parse', String(text).length));
  watch(JSON, 'stringify', (text) => count('JSON.stringify', String(text).length));
  watch(globalThis, 'AbortController', () => count('abort controllers'));
  watch(AbortSignal, 'any', () => count('abort controllers'));
  watch(AbortSignal, 'timeout', () => count('abort controllers'));
  watch(EventEmitter.prototype, 'on', () => count('listeners'));
  watch(EventTarget.prototype, 'addEventListener', () => count('listeners'));
  watch(Socket.prototype, '_writeGeneric', () => count('socket writes'));
  watch(Buffer, 'concat', (all) => count('copies of bytes', (all as Buffer).length));
  watch(Buffer, 'from', (made, [source]) => {
    if (!(source instanceof ArrayBuffer)) count('copies of bytes', (made as Buffer).length);
  });
  watch(Buffer.prototype, 'toString', (text) => count('copies of bytes', String(text).length));
  watch(MessagePort.prototype, 'postMessage', () => count('messages between threads'));
  watch(Worker.prototype, 'postMessage', () => count('messages between threads'));
  for (const name of ['run', 'get', 'all']) {
    if (statement !== null) watch(statement, name, () => count('SQL statements'));
  }
}

function endCounts(): Counts {
  resources.disable();
  for (const putBack of replaced.splice(0)) putBack();
  return counts;
}

/** The prototype of better-sqlite3's statements, in a thread that may have some. */
const statement = isMainThread ? null : statementPrototype();

function statementPrototype(): object | null {
  const require = createRequire(repositoryFile('packages/coordinator/package.json'));
  for (const name of ['better-sqlite3-12', 'better-sqlite3']) {
    try {
      const Database = require(name) as new (file: string) => {
        prepare(sql: string): object;
        close(): void;
      };
      const database = new Database(':memory:');
      const prototype = Object.getPrototypeOf(database.prepare('SELECT 1')) as object;
      database.close();
      return prototype;
    } catch {
      // The other version.
    }
  }
  return null;
}

// The profile.

const session = new Session();

async function beginCpu(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
  await session.post('Profiler.start');
}

async function endCpu(): Promise<Sums> {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return sharesByPart(profile);
}

async function beginHeap(): Promise<void> {
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: ALLOCATION_INTERVAL,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as object);
}

async function endHeap(): Promise<Sums> {
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  return bytesByPart(profile);
}

// Commands.

let ofThreads: Counts = {};
const channel = new BroadcastChannel('bench counters');

/** To all other threads. */
function tell(message: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it has no such argument
  channel.postMessage(message);
}

function hear(listener: (message: unknown) => void): void {
  channel.addEventListener('message', (event) => listener('data' in event ? event.data : null));
  channel.unref();
}

if (isMainThread) {
  const socket = counterSocket(process.pid);
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.once('data', (command) => {
      void answer(String(command)).then((reply) => connection.end(JSON.stringify(reply)));
    });
  });
  server.listen(socket).unref();
  process.once('exit', () => rmSync(socket, { force: true }));
  hear((message) => addCounts(ofThreads, (message as { counts: Counts }).counts));
} else {
  hear((message) => {
    if (message === 'begin counts') beginCounts();
    if (message === 'end counts') tell({ counts: endCounts() });
  });
}

async function answer(command: string): Promise<unknown> {
  switch (command) {
    case 'begin counts':
      ofThreads = {};
      tell(command);
      return beginCounts();
    case 'end counts': {
      const main = endCounts();
      return { main, threads: await countsOfThreads() };
    }
    case 'begin cpu':
      return beginCpu();
    case 'end cpu':
      return endCpu();
    case 'begin heap':
      return beginHeap();
    case 'end heap':
      return endHeap();
    default:
      return null;
  }
}

async function countsOfThreads(): Promise<Counts> {
  tell('end counts');
  await new Promise((resolve) => setTimeout(resolve, THREADS_MS));
  return ofThreads;
}

function addCounts(sum: Counts, more: Counts): void {
  for (const [what, { times, bytes }] of Object.entries(more)) {
    const seen = (sum[what] ??= { times: 0, bytes: 0 });
    seen.times += times;
    seen.bytes += bytes;
  }
}
