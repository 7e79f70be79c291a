/** The processes of this machine, from Linux's `/proc`. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** The first 15 characters of the program's name. */
  readonly name: string;
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

export async function readProcesses(proc: string): Promise<ProcessTable> {
  const names = (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(names.map((name) => readEntry(proc, Number(name))));
  return new Map(entries.flatMap((entry) => (entry === null ? [] : [[entry.pid, entry]])));
}

/** These processes and all their descendants. */
export function treesOf(roots: readonly number[], table: ProcessTable): Set<number> {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of table.values()) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  const found = new Set<number>();
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** The processes that hold one of these sockets, as far as their files are readable. */
export async function holdersOf(
  links: ReadonlySet<string>,
  { proc, table }: { readonly proc: string; readonly table: ProcessTable },
): Promise<Map<string, number>> {
  const holders = new Map<string, number>();
  for (const pid of table.keys()) {
    const folder = join(proc, String(pid), 'fd');
    const files = await readdir(folder).catch(() => []);
    const targets = await Promise.all(
      files.map((file) => readlink(join(folder, file)).catch(() => '')),
    );
    for (const target of targets) {
      // For an inherited socket the parent counts: it is an ancestor of the others.
      if (links.has(target) && !holders.has(target)) holders.set(target, pid);
    }
  }
  return holders;
}

export async function userOf(proc: string, pid: number): Promise<number | null> {
  const facts = await stat(join(proc, String(pid))).catch(() => null);
  return facts?.uid ?? null;
}

/** Whether it runs in a container of Docker, Podman, containerd or Kubernetes. */
export async function isInContainer(proc: string, pid: number): Promise<boolean> {
  const groups = await readFile(join(proc, String(pid), 'cgroup'), 'utf8').catch(() => '');
  return /docker|libpod|containerd|kubepods|lxc/.test(groups);
}

/** `4242 (name) S 1 …`; a name may contain spaces and parentheses. */
async function readEntry(proc: string, pid: number): Promise<ProcessEntry | null> {
  const text = await readFile(join(proc, String(pid), 'stat'), 'utf8').catch(() => '');
  const match = /^\d+ \((.*)\) \S (\d+) /s.exec(text);
  if (match === null) return null;
  return { pid, name: match[1] ?? '', parent: Number(match[2]) };
}
