/**
 * systeminformation, for cards without nvidia-smi. It runs programs synchronously (measured: a 3 s
 * nvidia-smi stopped the event loop for 3.05 s), so it runs in a separate process.
 */
import { fork } from 'node:child_process';
import { killChild } from '@inference-gateway/shared/program/kill-child';
import { GRAPHICS_PROGRAM } from '../own-files.js';
import type { Gpu } from './gpu-sample.js';

/** On Windows it starts several PowerShells, which take seconds each. */
const TIMEOUT_MS = 30_000;

/** What the process reports of a card; its monitors, with their serial numbers, are left out. */
export interface GraphicsCard {
  readonly vendor: string;
  readonly model: string;
  /** MiB. */
  readonly vram: number | null;
  readonly vramDynamic: boolean;
}

/** The cards; rejects if the process fails or exceeds its time limit. */
export function readSystemInformation(
  program = GRAPHICS_PROGRAM,
  timeoutMs = TIMEOUT_MS,
): Promise<Gpu[]> {
  return new Promise((done, failed) => {
    const child = fork(program, [], {
      stdio: 'ignore',
      execArgv: [],
    });
    const timer = setTimeout(() => killChild(child), timeoutMs).unref();
    child.once('message', (cards) => done((cards as GraphicsCard[]).map(toGpu)));
    child.once('error', failed);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      failed(new Error(`systeminformation ended with ${signal ?? code}`));
    });
    // The agent can exit without waiting for it.
    child.unref();
    child.channel?.unref();
  });
}

export function toGpu(card: GraphicsCard): Gpu {
  return {
    name: named(card.model),
    vendor: named(card.vendor),
    vram_mib: memoryOf(card),
    driver: null,
  };
}

/**
 * Null if the value would mislead: shared memory, as on Apple Silicon, and Linux, where lspci
 * reports a region of the bus that may be far smaller than the card's memory.
 */
function memoryOf({ vendor, vram, vramDynamic }: GraphicsCard): number | null {
  if (vram === null || !Number.isInteger(vram) || vram <= 0) return null;
  const isShared = vramDynamic || vendor.startsWith('Apple');
  return isShared || process.platform === 'linux' ? null : vram;
}

function named(text: string): string | null {
  return text.trim().slice(0, 256) || null;
}
