/** AMD's cards as the kernel's driver tells of them in `/sys`. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CardLoad } from './gpu-sample.js';
import type { Gpu } from './gpu.js';
import { readNumber } from './sampler.js';
import { readSystemInformation } from './system-information.js';

const AMD = '0x1002';
const MIB = 1024 * 1024;
const MICROWATTS = 1_000_000;

/** The `device` folders of its cards. */
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
  // To read on would wake it, and a card that sleeps is used by nobody.
  if ((await read(join(folder, 'power/runtime_status'))) === 'suspended') {
    return { usePercent: 0, memoryUsedMib: null, powerWatts: null };
  }
  const [use, memory, power] = await Promise.all([
    read(join(folder, 'gpu_busy_percent')),
    read(join(folder, 'mem_info_vram_used')),
    readPower(folder),
  ]);
  return { usePercent: readNumber(use), memoryUsedMib: mebibytes(memory), powerWatts: power };
}

/**
 * For HELLO. The kernel knows the memory exactly; the name is mostly known to lspci alone, whose
 * cards come in the same order.
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

async function readPower(folder: string): Promise<number | null> {
  const [hwmon] = await readdir(join(folder, 'hwmon')).catch(() => []);
  if (hwmon === undefined) return null;
  const at = join(folder, 'hwmon', hwmon);
  const cell = (await read(join(at, 'power1_average'))) ?? (await read(join(at, 'power1_input')));
  const microwatts = readNumber(cell);
  return microwatts === null ? null : microwatts / MICROWATTS;
}

function mebibytes(cell: string | undefined): number | null {
  const bytes = readNumber(cell);
  return bytes === null ? null : Math.round(bytes / MIB);
}

/** Undefined where it cannot be read: each driver tells other things. */
async function read(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() || undefined;
}
