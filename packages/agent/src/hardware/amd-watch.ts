/** AMD's cards, sampled from what the kernel keeps in `/sys` and `/proc`; nothing is started. */
import { findAmdCards, readAmdLoad } from './amd-cards.js';
import { DrmClients } from './drm-clients.js';
import type { GpuProcess } from './gpu-sample.js';
import { SAMPLE_MS } from './sampler.js';
import type { Report, Sampler } from './sampler.js';

/** To look through all processes costs more than to read the cards. */
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

  /** Without a card there is nothing to look at. */
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
