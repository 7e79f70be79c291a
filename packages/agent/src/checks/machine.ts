/** Checks what the machine has besides its model servers: graphics cards and audio conversion. */
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import type { Gpu, GpuSample } from '../hardware/gpu-sample.js';
import { readNvidiaSmi } from '../hardware/nvidia.js';
import { readSystemInformation } from '../hardware/system-information.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { GameModeSettings } from '../config/config.js';
import { watchGpus } from '../hardware/gpu-watch.js';
import { orTimeout } from './patient.js';

/** The running agent queries the driver three times a second. */
const SLOW_MS = 1_000;

const OTHER_SOURCES_MS = 15_000;

export async function checkGpu(): Promise<Check> {
  const { pass, warn } = checking('gpu');
  const askedAt = performance.now();
  const nvidia = await readNvidiaSmi().catch(() => []);
  const ms = Math.round(performance.now() - askedAt);
  if (nvidia.length > 0) {
    const found = `${nvidia.map(nameOf).join(', ')}; nvidia-smi took ${ms} ms`;
    return ms < SLOW_MS ? pass(found) : warn(found, SLOW_DRIVER);
  }
  // The query keeps no process alive, so the timer must.
  const others = await orTimeout(OTHER_SOURCES_MS, readSystemInformation()).catch(() => []);
  if (others.length > 0) return pass(others.map(nameOf).join(', '));
  return warn('no graphics card is seen', NO_CARD);
}

const SLOW_DRIVER = 'Keep the driver awake with: sudo nvidia-smi -pm 1';

const NO_CARD = 'Where there is one, install its driver until this answers: nvidia-smi';

function nameOf({ name, vram_mib: memory, driver }: Gpu): string {
  const facts = [
    ...(memory === null ? [] : [`${(memory / 1024).toFixed(0)} GiB`]),
    ...(driver === null ? [] : [`driver ${driver}`]),
  ];
  return [name ?? 'a card without a name', ...facts].join(', ');
}

interface FfmpegNeeds {
  readonly configured: string | null;
  /** Whether a service uses audio. */
  readonly isNeeded: boolean;
}

export async function checkFfmpeg({ configured, isNeeded }: FfmpegNeeds): Promise<Check> {
  const { pass, fail, skip } = checking('ffmpeg');
  const found = await findFfmpeg(configured);
  if (found === null && configured !== null) {
    return fail(`${configured} does not run`, `Correct "ffmpeg", or install it: ${INSTALL}`);
  }
  if (found === null) {
    const missing = 'not installed';
    return isNeeded
      ? pass(`${missing}: sounds are converted by what is built in`)
      : skip(`${missing}, not needed`);
  }
  const version = found.version ?? found.path;
  if (found.makesOpus) return pass(`${version}, with Opus`);
  return pass(`${version}, without Opus, which is built in`);
}

const INSTALL =
  { darwin: 'brew install ffmpeg', win32: 'winget install Gyan.FFmpeg' }[
    process.platform as string
  ] ?? 'sudo apt install ffmpeg';

// Checks whether a program uses the card if no agent runs.

/** Cards are sampled about three times a second, and a driver needs a moment to start. */
const SAMPLE_MS = 2_000;

/** Why a model should not be tested now; null if the card is free, or reports nothing. */
export async function cardUse({ enabled, usePercent }: GameModeSettings): Promise<string | null> {
  if (!enabled) return null;
  const sample = await firstSample();
  const used = Math.max(0, ...(sample?.cards.map((card) => card.usePercent ?? 0) ?? []));
  return used > usePercent ? `the graphics card is in use (${used} %)` : null;
}

async function firstSample(): Promise<GpuSample | null> {
  const gpu = watchGpus();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<GpuSample | null>((resolve) => {
      gpu.onSample(resolve);
      timer = setTimeout(() => resolve(null), SAMPLE_MS);
    });
  } finally {
    clearTimeout(timer);
    gpu.close();
  }
}
