/**
 * Distinguishes the processes of the configured local servers, and of the agent, from all others: a
 * server is the process that listens on the configured address, with all its descendants. Only
 * Linux reports enough for this.
 */
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { GpuProcess } from './gpu-sample.js';
import { readListeningSockets, SocketHolders } from './sockets.js';
import { isInContainer, readProcesses, treesOf, userOf } from './process-table.js';
import type { ProcessTable } from './process-table.js';
import { CONTAINER_DOORS, isOneOf, MODEL_SERVERS, MODEL_WORKERS } from './program-names.js';

interface ServerProcessesOptions {
  readonly baseUrls: readonly string[];
  /** Where `/proc` is. */
  readonly root?: string;
  readonly platform?: NodeJS.Platform;
  /** The agent's process id. */
  readonly pid?: number;
}

/** The known owners of processes at one moment. */
interface View {
  readonly at: number;
  readonly table: ProcessTable;
  /** Requested processes that are not in the table. */
  readonly missing: ReadonlySet<number>;
  readonly ours: ReadonlySet<number>;
  /** Users who run servers that the agent may not inspect; never root or the agent's own user. */
  readonly users: ReadonlySet<number>;
  /** A server may be in a container, or hidden: its processes are recognised by other signs. */
  readonly isHidden: boolean;
}

const FRESH_MS = 10_000;
const SERVERS = [...MODEL_SERVERS, ...MODEL_WORKERS];

export class ServerProcesses {
  readonly #proc: string;
  readonly #platform: NodeJS.Platform;
  readonly #pid: number;
  readonly #baseUrls: readonly string[];
  readonly #holders: SocketHolders;
  #view: View | null = null;

  constructor({ baseUrls, root = '/', ...options }: ServerProcessesOptions) {
    this.#proc = join(root, 'proc');
    this.#platform = options.platform ?? process.platform;
    this.#pid = options.pid ?? process.pid;
    this.#holders = new SocketHolders(this.#proc);
    this.#baseUrls = baseUrls;
  }

  /**
   * Running processes that are not of the agent or its servers; null if unknown. A process that is
   * not in the table, as when the agent runs in a container, has no known owner.
   */
  async strangers(processes: readonly GpuProcess[] | null): Promise<GpuProcess[] | null> {
    if (processes === null || this.#platform !== 'linux') return null;
    if (processes.length === 0) return [];
    const view = await this.#viewFor(processes);
    const strange = await Promise.all(processes.map((one) => this.#isStranger(one, view)));
    return processes.filter((_, index) => strange[index]);
  }

  /** Refreshed for an unknown process, and otherwise rarely. */
  async #viewFor(processes: readonly GpuProcess[]): Promise<View> {
    const view = this.#view;
    if (view !== null && !isOutdated(view, processes)) return view;
    this.#view = await this.#look(processes);
    return this.#view;
  }

  async #look(processes: readonly GpuProcess[]): Promise<View> {
    const [table, sockets] = await Promise.all([
      readProcesses(this.#proc),
      readListeningSockets(this.#proc),
    ]);
    // When the machine has just started it may not have its addresses yet.
    const ports = new Set(this.#baseUrls.filter(isOfThisMachine).map(portOf));
    const wanted = sockets.filter(({ port }) => ports.has(port));
    const listeners = await this.#holders.of(wanted, table);
    const isFound = (port: number) => wanted.some((one) => one.port === port);
    const missing = processes.map(({ pid }) => pid).filter((pid) => !table.has(pid));
    const isDoor = (pid: number) => isOneOf(CONTAINER_DOORS, table.get(pid)?.name ?? '');
    const pids = [...listeners.values()];
    const hidden = wanted.filter(({ link }) => !listeners.has(link));
    return {
      at: performance.now(),
      table,
      missing: new Set(missing),
      ours: treesOf([this.#pid, ...pids], table),
      users: new Set(hidden.map(({ uid }) => uid).filter((uid) => uid !== 0 && uid !== myUser())),
      isHidden: hidden.length > 0 || pids.some(isDoor) || [...ports].some((port) => !isFound(port)),
    };
  }

  async #isStranger({ pid, name }: GpuProcess, view: View): Promise<boolean> {
    const entry = view.table.get(pid);
    if (entry === undefined || view.ours.has(pid)) return false;
    const program = name ?? entry.name;
    const isServer = isOneOf(SERVERS, program) || isOneOf(SERVERS, entry.name);
    if (isServer && (view.isHidden || hasSibling(entry.name, view))) return false;
    if (view.isHidden && (await isInContainer(this.#proc, pid))) return false;
    if (view.users.size === 0) return true;
    const user = await userOf(this.#proc, pid);
    return user === null || !view.users.has(user);
  }
}

function isOutdated({ at, table, missing, ours }: View, processes: readonly GpuProcess[]): boolean {
  if (processes.some(({ pid }) => !table.has(pid) && !missing.has(pid))) return true;
  return performance.now() - at > FRESH_MS && !processes.every(({ pid }) => ours.has(pid));
}

/** A worker that was not started by the listening process, as with LM Studio. */
function hasSibling(name: string, { ours, table }: View): boolean {
  return [...ours].some((pid) => table.get(pid)?.name === name);
}

/** Whether the address is one of this machine's own. */
export function isOfThisMachine(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '0.0.0.0' || host.startsWith('127.')) return true;
  if (firstLabel(host) === firstLabel(hostname().toLowerCase())) return true;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.some(({ address }) => address === host);
}

/** `den-pc` also matches `den-pc.local` and `den-pc.fritz.box`. */
function firstLabel(host: string): string | undefined {
  return host.split('.', 1)[0];
}

function portOf(baseUrl: string): number {
  const { port, protocol } = new URL(baseUrl);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function myUser(): number {
  return process.getuid?.() ?? 0;
}
