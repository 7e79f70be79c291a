/**
 * Describes this machine for HELLO. Runs in the background: it never delays the start of the agent.
 */
import { arch, platform } from 'node:os';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';
import { readAmdCards } from './amd.js';
import type { Gpu, GpuSource } from './gpu-sample.js';
import { readNvidiaSmi } from './nvidia.js';
import { readSystemInformation } from './system-information.js';

export interface HostProbe {
  /** What is known now; no GPU until one has been found. */
  current(): AgentHost;
  /** Resolves when the search is complete. Never rejects. */
  readonly ready: Promise<void>;
}

/** Queries one source after the other; uses the first that finds a card. */
export function probeHost(logger: Logger, sources: readonly GpuSource[] = SOURCES): HostProbe {
  let gpus: readonly Gpu[] = [];
  async function find(): Promise<void> {
    gpus = await findGpus(sources, logger);
  }
  return { current: () => ({ os: platform(), arch: arch(), gpus: [...gpus] }), ready: find() };
}

/**
 * nvidia-smi first: it reports exact memory, and systeminformation finds no card at all on a Linux
 * without lspci, as in most containers, and no memory of AMD's cards.
 */
const SOURCES: readonly GpuSource[] = [readNvidiaSmi, () => readAmdCards(), readSystemInformation];

async function findGpus(sources: readonly GpuSource[], logger: Logger): Promise<readonly Gpu[]> {
  for (const source of sources) {
    const gpus = await source().catch((error: Error) => {
      logger.debug({ reason: error.message }, 'a source of GPU facts does not answer');
      return [];
    });
    if (gpus.length > 0) return gpus.slice(0, MAX_GPUS);
  }
  return [];
}

/** The limit of HELLO. */
const MAX_GPUS = 32;
