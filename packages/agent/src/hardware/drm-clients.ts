/**
 * Which processes use an AMD card, by what the kernel tells of their open files in
 * `/proc/<pid>/fdinfo`. Processes of other users cannot be read, unless the agent is root.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { GpuProcess } from './gpu-sample.js';

/** So long a new process is looked at each time: a game opens the card a while after its start. */
const YOUNG_MS = 60_000;
/** Of the others a part is looked at each time, so that each has its turn every few seconds. */
const TURNS = 8;
const KIB_A_MIB = 1024;
const NS_A_MS = 1_000_000;

interface Known {
  readonly since: number;
  /** Null: it has no card open. */
  client: Client | null;
}

interface Client {
  readonly at: number;
  readonly busyNs: number;
  /** Its numbers of the files that are a card: to look through all of them costs the most. */
  readonly files: readonly string[];
}

interface Use {
  readonly memoryKib: number;
  readonly busyNs: number;
}

export class DrmClients {
  readonly #proc: string;
  #known = new Map<number, Known>();
  #turn = 0;
  #isFirst = true;

  constructor(root: string) {
    this.#proc = join(root, 'proc');
  }

  /** Null where it cannot be told: none was seen, and some could not be looked at. */
  async sample(): Promise<GpuProcess[] | null> {
    const now = performance.now();
    const pids = (await readdir(this.#proc).catch(() => [])).filter((name) => /^\d+$/.test(name));
    const known = new Map<number, Known>();
    const found: GpuProcess[] = [];
    let isBlind = false;
    this.#turn = (this.#turn + 1) % TURNS;
    for (const pid of pids.map(Number)) {
      const one = this.#known.get(pid) ?? { since: this.#isFirst ? -YOUNG_MS : now, client: null };
      known.set(pid, one);
      const files = this.#isDue(pid, one, now) ? await this.#cardFiles(pid) : one.client?.files;
      if (files === undefined) continue;
      if (files === 'unreadable') {
        isBlind = true;
        continue;
      }
      const use = await this.#useOf(pid, files);
      if (use === null) one.client = null;
      else found.push(await this.#processOf(pid, use, { one, now, files }));
    }
    this.#known = known;
    this.#isFirst = false;
    return found.length === 0 && isBlind ? null : found;
  }

  #isDue(pid: number, { since }: Known, now: number): boolean {
    return this.#isFirst || now - since < YOUNG_MS || pid % TURNS === this.#turn;
  }

  async #processOf(
    pid: number,
    { memoryKib, busyNs }: Use,
    { one, now, files }: Pick<Client, 'files'> & { readonly one: Known; readonly now: number },
  ): Promise<GpuProcess> {
    const before = one.client;
    one.client = { at: now, busyNs, files };
    const comm = await readFile(join(this.#proc, String(pid), 'comm'), 'utf8').catch(() => '');
    const usePercent =
      before === null
        ? null
        : Math.min(
            100,
            Math.max(0, ((busyNs - before.busyNs) / NS_A_MS / (now - before.at)) * 100),
          );
    const memoryMib = Math.round(memoryKib / KIB_A_MIB);
    return { pid, name: comm.trim() || null, usePercent, memoryMib };
  }

  async #cardFiles(pid: number): Promise<string[] | 'unreadable'> {
    const folder = join(this.#proc, String(pid), 'fd');
    const files = await readdir(folder).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EACCES' || error.code === 'EPERM' ? 'unreadable' : [],
    );
    if (files === 'unreadable') return files;
    const targets = await Promise.all(
      files.map((file) => readlink(join(folder, file)).catch(() => '')),
    );
    return files.filter((_, index) => targets[index]?.startsWith('/dev/dri/'));
  }

  /** Null: it has no card open. */
  async #useOf(pid: number, files: readonly string[]): Promise<Use | null> {
    const clients = new Map<string, Use>();
    for (const file of files) {
      const info = join(this.#proc, String(pid), 'fdinfo', file);
      const client = parseClient(await readFile(info, 'utf8').catch(() => ''));
      if (client !== null) clients.set(client.id, client);
    }
    const uses = [...clients.values()];
    if (uses.length === 0) return null;
    return {
      memoryKib: uses.reduce((sum, { memoryKib }) => sum + memoryKib, 0),
      busyNs: uses.reduce((sum, { busyNs }) => sum + busyNs, 0),
    };
  }
}

/** Files that were opened twice are one client. Null where the driver tells nothing. */
export function parseClient(text: string): (Use & { readonly id: string }) | null {
  const facts = new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
    }),
  );
  const id = facts.get('drm-client-id');
  if (id === undefined || facts.get('drm-driver') !== 'amdgpu') return null;
  const memory = facts.get('drm-memory-vram') ?? facts.get('drm-resident-vram') ?? '';
  const engines = [...facts].filter(([name]) => /^drm-engine-(?!capacity)/.test(name));
  return {
    id: `${facts.get('drm-pdev') ?? ''} ${id}`,
    memoryKib: kibibytes(memory),
    busyNs: engines.reduce((sum, [, value]) => sum + (Number.parseInt(value, 10) || 0), 0),
  };
}

/** `544428 KiB`, `22 MiB`, or bytes without a unit. */
function kibibytes(value: string): number {
  const [, amount = '0', unit = ''] = /^(\d+)\s*(KiB|MiB)?$/.exec(value) ?? [];
  if (unit === 'MiB') return Number(amount) * KIB_A_MIB;
  return unit === 'KiB' ? Number(amount) : Number(amount) / KIB_A_MIB;
}
