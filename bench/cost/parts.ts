/** Which part of a program a stack belongs to, by stable names. */
import type { HeapProfiler, Profiler } from 'node:inspector';
import type { Sums } from './counter-socket.js';

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

/** Native functions that write to a socket. */
const WRITES = /^(writev|writeBuffer|write\w+String)$/;
const IDLE = new Set(['(idle)', '(root)']);

/** Null: it belongs to the part that called it. */
function partOf({ functionName, url }: Frame): string | null {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'V8 and system calls';
  if (WRITES.test(functionName)) return 'socket writes';
  const node = /^node:(?:internal\/)?(\w+)/.exec(url)?.[1];
  if (node !== undefined) return `node:${NODE_PARTS[node] ?? 'other'}`;
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (library !== undefined) return library;
  const own = /packages\/(\w+)\/dist\/(.+)\.js$/.exec(url);
  if (own === null) return url === '' ? null : 'bench';
  const [, program = '', path = ''] = own;
  const folders = path.split('/').slice(0, -1);
  return [program, ...folders.slice(0, program === 'coordinator' ? 2 : 1)].join('/');
}

const NODE_PARTS: Readonly<Record<string, string>> = {
  http: 'http',
  _http_server: 'http',
  _http_outgoing: 'http',
  _http_incoming: 'http',
  _http_common: 'http',
  _http_agent: 'http',
  _http_client: 'http',
  net: 'net, streams',
  stream: 'net, streams',
  streams: 'net, streams',
  stream_base_commons: 'net, streams',
  timers: 'timers, ticks',
  process: 'timers, ticks',
  async_hooks: 'timers, ticks',
  events: 'events',
  event_target: 'events',
  abort_controller: 'events',
  buffer: 'buffer, crypto',
  crypto: 'buffer, crypto',
  url: 'url',
};

/** The samples of a profile while the thread worked, as shares of all of them. */
export function sharesByPart({ nodes, samples = [] }: Profiler.Profile): Sums {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const ownerOf = (id: number): string | null => {
    for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) {
      const frame = frames.get(at);
      if (frame === undefined || IDLE.has(frame.functionName)) return null;
      const part = partOf(frame);
      if (part !== null) return part;
    }
    return null;
  };
  const owners = new Map(nodes.map(({ id }) => [id, ownerOf(id)]));
  const sums: Sums = {};
  const busy = samples.flatMap((id) => owners.get(id) ?? []);
  for (const part of busy) sums[part] = (sums[part] ?? 0) + 1 / busy.length;
  return sums;
}

export function bytesByPart({ head }: HeapProfiler.SamplingHeapProfile): Sums {
  const sums: Sums = {};
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, caller: string): void => {
    const part = partOf(node.callFrame) ?? caller;
    sums[part] = (sums[part] ?? 0) + node.selfSize;
    for (const child of node.children) visit(child, part);
  };
  visit(head, 'V8 and system calls');
  return sums;
}
