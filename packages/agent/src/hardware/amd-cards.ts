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
const MILLIDEGREES = 1_000;

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

/** Undefined where it cannot be read: each driver tells other things. */
async function read(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() || undefined;
}
