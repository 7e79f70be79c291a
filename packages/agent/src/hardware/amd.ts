/** AMD's cards, sampled from the kernel's files in `/sys` and `/proc`; starts no process. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { GpuProcess, Report, Sampler, CardLoad, Gpu } from './gpu-sample.js';
import { SAMPLE_MS, readNumber } from './gpu-sample.js';
import { readSystemInformation } from './system-information.js';

/** A search of all processes costs more than reading the cards. */
const SAMPLES_A_SEARCH = 4;

export class AmdWatch implements Sampler {
  readonly #report: Report;
  readonly #clients: DrmClients;
  #processes: readonly GpuProcess[] | null = null;
  #samples = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(root: string, report: Report) {
    this.#report = report;
    this.#clients = new DrmClients(root);
    void this.#begin(root);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Stops if there is no card. */
  async #begin(root: string): Promise<void> {
    const cards = await findAmdCards(root);
    if (cards.length > 0) await this.#sample(cards);
  }

  async #sample(folders: readonly string[]): Promise<void> {
    const startedAt = performance.now();
    const cards = await Promise.all(folders.map(readAmdLoad));
    if (this.#samples++ % SAMPLES_A_SEARCH === 0) this.#processes = await this.#clients.sample();
    if (this.#closed) return;
    const at = performance.now();
    this.#report({ at, cards, processes: this.#processes });
    const leftMs = Math.max(SAMPLE_MS - (at - startedAt), SAMPLE_MS / 2);
    this.#timer = setTimeout(() => void this.#sample(folders), leftMs);
  }
}

// The processes that use an AMD card, from the kernel's facts about their open files in
// `/proc/<pid>/fdinfo`. Processes of other users cannot be read, unless the agent is root.

/**
 * A new process is checked at each sample for this time: a game opens the card a while after its
 * start.
 */
const YOUNG_MS = 60_000;

/**
 * Of the older processes each sample checks one part, so that each is checked every few seconds.
 */
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
  /**
   * The numbers of its files that are a card: searching all its files is the most expensive step.
   */
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

  /** Null if unknown: no client was found, and some processes could not be read. */
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

/** Files that were opened twice are one client. Null if the driver reports nothing. */
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

// AMD's cards as the kernel's driver reports them in `/sys`.

const AMD = '0x1002';

const MIB = 1024 * 1024;

const MICROWATTS = 1_000_000;

const MILLIDEGREES = 1_000;

/** The `device` folders of the cards. */
export async function findAmdCards(root: string): Promise<string[]> {
  const drm = join(root, 'sys/class/drm');
  const names = await readdir(drm).catch(() => []);
  const folders = names
    .filter((name) => /^card\d+$/.test(name))
    .toSorted()
    .map((name) => join(drm, name, 'device'));
  const vendors = await Promise.all(folders.map((folder) => read(join(folder, 'vendor'))));
  return folders.filter((_, index) => vendors[index] === AMD);
}

export async function readAmdLoad(folder: string): Promise<CardLoad> {
  // Reading on would wake the card, and a sleeping card is not in use.
  if ((await read(join(folder, 'power/runtime_status'))) === 'suspended') {
    return { usePercent: 0, memoryUsedMib: null, temperatureC: null, powerWatts: null };
  }
  const [use, memory, sensors] = await Promise.all([
    read(join(folder, 'gpu_busy_percent')),
    read(join(folder, 'mem_info_vram_used')),
    readSensors(folder),
  ]);
  return { usePercent: readNumber(use), memoryUsedMib: mebibytes(memory), ...sensors };
}

/**
 * For HELLO. The kernel knows the exact memory; the name is usually known only to lspci, which
 * lists the cards in the same order.
 */
export async function readAmdCards(root = '/', named = readSystemInformation): Promise<Gpu[]> {
  const folders = await findAmdCards(root);
  if (folders.length === 0) return [];
  const others = await named().catch(() => []);
  const names = others.filter(({ vendor }) => /amd|ati\b|advanced micro/i.test(vendor ?? ''));
  return Promise.all(
    folders.map(async (folder, index) => ({
      name: (await read(join(folder, 'product_name'))) ?? names[index]?.name ?? null,
      vendor: 'AMD',
      vram_mib: mebibytes(await read(join(folder, 'mem_info_vram_total'))) || null,
      driver: null,
    })),
  );
}

type Sensors = Pick<CardLoad, 'temperatureC' | 'powerWatts'>;

async function readSensors(folder: string): Promise<Sensors> {
  const [hwmon] = await readdir(join(folder, 'hwmon')).catch(() => []);
  if (hwmon === undefined) return { temperatureC: null, powerWatts: null };
  const at = join(folder, 'hwmon', hwmon);
  const power = (await read(join(at, 'power1_average'))) ?? (await read(join(at, 'power1_input')));
  const temperature = await read(join(at, 'temp1_input'));
  return {
    temperatureC: scaled(temperature, MILLIDEGREES),
    powerWatts: scaled(power, MICROWATTS),
  };
}

function scaled(cell: string | undefined, unit: number): number | null {
  const number = readNumber(cell);
  return number === null ? null : number / unit;
}

function mebibytes(cell: string | undefined): number | null {
  const bytes = readNumber(cell);
  return bytes === null ? null : Math.round(bytes / MIB);
}

/** Undefined if the file cannot be read: drivers provide different files. */
async function read(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() || undefined;
}
