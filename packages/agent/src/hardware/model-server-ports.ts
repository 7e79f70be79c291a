/**
 * The ports on which model servers listen that are known by their names: servers are found on
 * unusual ports, too, and nothing else on this machine is asked anything. Linux alone tells.
 */
import { readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readListeningSockets } from './listening-sockets.js';
import { holdersOf, readProcesses } from './process-table.js';
import type { ProcessTable } from './process-table.js';
import { isCalled, MODEL_SCRIPTS, MODEL_SERVERS } from './program-names.js';

const INTERPRETER = /^(?:python[\d.]*|uv|uvx|uvicorn|node)$/;
/** Of the words of a command line; the rest are options and paths. */
const MAX_WORDS = 6;

/** Empty where the system does not tell, or other users' programs are hidden. */
export async function modelServerPorts(proc = '/proc'): Promise<readonly number[]> {
  const sockets = (await readListeningSockets(proc)).filter(({ isOnLoopback }) => isOnLoopback);
  if (sockets.length === 0) return [];
  const links = new Set(sockets.map(({ link }) => link));
  const held = await holdersOf(links, { proc, table: await modelServers(proc) });
  return sockets.filter(({ link }) => held.has(link)).map(({ port }) => port);
}

/**
 * A server that starts others for itself (llama-swap, LocalAI, Ollama) speaks for them: theirs are
 * not found.
 */
async function modelServers(proc: string): Promise<ProcessTable> {
  const table = await readProcesses(proc);
  const known = new Set<number>();
  for (const pid of table.keys()) {
    if (await isModelServer(join(proc, String(pid)))) known.add(pid);
  }
  return new Map([...table].filter(([pid, { parent }]) => known.has(pid) && !known.has(parent)));
}

async function isModelServer(folder: string): Promise<boolean> {
  const line = await readFile(join(folder, 'cmdline'), 'utf8').catch(() => '');
  const [program = '', ...words] = line.split('\0').slice(0, MAX_WORDS);
  if (isCalled(MODEL_SERVERS, program)) return true;
  if (!INTERPRETER.test(basename(program))) return false;
  const runsIn = await readlink(join(folder, 'cwd')).catch(() => '');
  return [...words, runsIn].some((word) => isCalled(MODEL_SCRIPTS, word));
}
