/** Which process listens on which port of this machine, from Linux's `/proc/net/tcp`. */
import { readFile, readlink } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { holdersOf, readProcesses } from './process-table.js';
import type { ProcessTable } from './process-table.js';
import { isCalled, MODEL_SCRIPTS, MODEL_SERVERS } from './program-names.js';

interface ListeningSocket {
  readonly port: number;
  /** Whether it accepts connections to a loopback address. */
  readonly isOnLoopback: boolean;
  /** The user whose process opened it. */
  readonly uid: number;
  /** `socket:[12345]`, as in a process's list of files. */
  readonly link: string;
}

const LISTEN = '0A';

/** The kernel's notation of 127.0.0.0/8 (with the last byte first), any, and ::1. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{8}|0{32}|0{24}01000000|0{16}F{4}0{4}[0-9A-F]{6}7F)$/;

export async function readListeningSockets(proc: string): Promise<ListeningSocket[]> {
  const files = ['net/tcp', 'net/tcp6'].map((name) =>
    readFile(join(proc, name), 'utf8').catch(() => ''),
  );
  return (await Promise.all(files)).flatMap((text) => text.split('\n').flatMap(parseSocket));
}

/** `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 …` */
function parseSocket(line: string): ListeningSocket[] {
  const cells = line.trim().split(/\s+/);
  const [, local = '', , state] = cells;
  const [uid, inode] = [Number(cells[7]), cells[9]];
  const [address = '', hex = ''] = local.split(':');
  const port = Number.parseInt(hex, 16);
  if (state !== LISTEN || Number.isNaN(port) || inode === undefined) return [];
  return [{ port, isOnLoopback: LOOPBACK.test(address), uid, link: `socket:[${inode}]` }];
}

/** Searching the files of all processes takes a tenth of a second if there are many. */
const SEARCH_AGAIN_MS = 60_000;

/** Which process holds which listening socket, as far as the agent may read it. */
export class SocketHolders {
  readonly #proc: string;
  #found = new Map<string, number>();
  /**
   * Other users' sockets without a visible holder, and the time of that search: a new search would
   * not find one.
   */
  #sought = new Map<string, number>();

  constructor(proc: string) {
    this.#proc = proc;
  }

  /** By socket; omits sockets whose holder is not visible. */
  async of(
    sockets: readonly ListeningSocket[],
    table: ProcessTable,
  ): Promise<ReadonlyMap<string, number>> {
    const isKnown = sockets.every(({ link }) => this.#isKnown(link, table));
    if (!isKnown) await this.#search(sockets, table);
    return new Map(
      sockets.flatMap(({ link }) => {
        const pid = this.#found.get(link);
        return pid === undefined ? [] : [[link, pid]];
      }),
    );
  }

  #isKnown(link: string, table: ProcessTable): boolean {
    const soughtAt = this.#sought.get(link);
    if (soughtAt === undefined) return table.has(this.#found.get(link) ?? 0);
    return performance.now() - soughtAt < SEARCH_AGAIN_MS;
  }

  async #search(sockets: readonly ListeningSocket[], table: ProcessTable): Promise<void> {
    const links = new Set(sockets.map(({ link }) => link));
    this.#found = await holdersOf(links, { proc: this.#proc, table });
    const now = performance.now();
    const hidden = sockets.filter(({ link, uid }) => uid !== myUser() && !this.#found.has(link));
    this.#sought = new Map(hidden.map(({ link }) => [link, now]));
  }
}

function myUser(): number {
  return process.getuid?.() ?? 0;
}

// The ports of model servers that are recognised by name: this finds servers on unusual ports
// without a request to any other program. Linux only.

const INTERPRETER = /^(?:python[\d.]*|uv|uvx|uvicorn|node)$/;

/** Limit of words of a command line; the rest are options and paths. */
const MAX_WORDS = 6;

/** Empty if the system does not report them, or hides other users' programs. */
export async function modelServerPorts(proc = '/proc'): Promise<readonly number[]> {
  const sockets = (await readListeningSockets(proc)).filter(({ isOnLoopback }) => isOnLoopback);
  if (sockets.length === 0) return [];
  const links = new Set(sockets.map(({ link }) => link));
  const held = await holdersOf(links, { proc, table: await modelServers(proc) });
  return sockets.filter(({ link }) => held.has(link)).map(({ port }) => port);
}

/**
 * A server that starts others for itself (llama-swap, LocalAI, Ollama) represents them: their ports
 * are omitted.
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
