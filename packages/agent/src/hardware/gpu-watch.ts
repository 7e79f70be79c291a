/** Samples the graphics cards with the sources that this machine has. */
import { AmdWatch } from './amd.js';
import { AppleWatch } from './apple.js';
import type { GpuSample, GpuWatch, Report, Sampler } from './gpu-sample.js';
import { NvidiaWatch } from './nvidia.js';

interface GpuWatchOptions {
  readonly nvidiaSmi?: string;
  readonly ioreg?: string;
  /** Where `/sys` and `/proc` are. */
  readonly root?: string;
  readonly platform?: NodeJS.Platform;
  /** A program without output for this long is ended. */
  readonly silenceMs?: number;
  /** A program that was run without its loop is run with it again after this time. */
  readonly loopAgainMs?: number;
}

/** Samples older than this are not used. */
const STALE_MS = 5_000;

/** Starts at once. If the machine has no source there is never a sample. */
export function watchGpus(options: GpuWatchOptions = {}): GpuWatch {
  return new CardWatch(options);
}

class CardWatch implements GpuWatch {
  readonly #listeners = new Set<(sample: GpuSample) => void>();
  readonly #options: GpuWatchOptions;
  readonly #nvidia: Sampler;
  /** For the machine's other cards, while NVIDIA's tool has no output. */
  #fallback: Sampler | null = null;
  #latest: GpuSample | null = null;
  #closed = false;

  /** NVIDIA's tool first: a machine with such a card often has a second GPU inside its CPU. */
  constructor(options: GpuWatchOptions) {
    this.#options = options;
    const { nvidiaSmi: command = 'nvidia-smi', silenceMs, loopAgainMs } = options;
    this.#nvidia = new NvidiaWatch({
      command,
      report: (sample) => this.#told(sample),
      failed: () => this.#fallBack(),
      ...(silenceMs !== undefined && { silenceMs }),
      ...(loopAgainMs !== undefined && { loopAgainMs }),
    });
  }

  get latest(): GpuSample | null {
    const sample = this.#latest;
    return sample === null || performance.now() - sample.at > STALE_MS ? null : sample;
  }

  onSample(listener: (sample: GpuSample) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    this.#nvidia.close();
    this.#fallback?.close();
  }

  readonly #report: Report = (sample) => {
    this.#latest = sample;
    for (const listener of this.#listeners) listener(sample);
  };

  /** Two samplers of different cards in turn would each hide the other's readings. */
  #told(sample: GpuSample): void {
    this.#fallback?.close();
    this.#fallback = null;
    this.#report(sample);
  }

  /** The tool is missing or fails, and has had no output yet. */
  #fallBack(): void {
    if (this.#closed || this.#fallback !== null || this.#latest !== null) return;
    this.#fallback = this.#other();
  }

  #other(): Sampler | null {
    const { platform = process.platform, root = '/', ioreg = 'ioreg' } = this.#options;
    if (platform === 'linux') return new AmdWatch(root, this.#report);
    return platform === 'darwin' ? new AppleWatch(ioreg, this.#report) : null;
  }
}
