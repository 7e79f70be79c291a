/** Which models were pulled at the coordinator's request, and how much of the disk they have. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Pulled, PulledFile } from '../state/pulled-file.js';

/** What a pull without an end leaves counts for so long: Ollama removes it when it starts again. */
const REMAINS_MS = 24 * 3_600_000;

/** Far more than a disk holds. */
const MAX_PULLED = 1_000;

interface PulledParts {
  /** Null: the record ends with this process. */
  readonly file: PulledFile | null;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
}

export class PulledModels {
  readonly #parts: PulledParts;
  #models: readonly Pulled[] = [];
  /** Pulls of this process. */
  readonly #running = new Set<string>();
  #written: Promise<void> = Promise.resolve();
  /** Why the record cannot be trusted; null if it can. */
  fault: string | null = null;

  constructor(parts: PulledParts) {
    this.#parts = parts;
  }

  async restore(): Promise<void> {
    try {
      this.#models = (await this.#parts.file?.read()) ?? [];
    } catch (err) {
      this.fault = 'pulled.json in the state folder cannot be read: the owner has to remove it.';
      this.#parts.logger.error({ err }, 'the record of pulled models cannot be read');
    }
  }

  /** Bytes on the disk, as far as they are known. */
  get usedBytes(): number {
    return this.#valid().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  has(server: string, model: string): boolean {
    return this.#models.some(
      (one) => one.server === server && one.model === model && one.state === 'pulled',
    );
  }

  /**
   * The list of a server, with sizes: what is not in it any more was deleted by hand. A pull that
   * an earlier process of the agent did not see to its end may have ended since.
   */
  listed(server: string, sizes: ReadonlyMap<string, number | null>): void {
    let isOther = false;
    const left = this.#models.flatMap((one): Pulled[] => {
      const isThere = sizes.has(one.model);
      if (one.server !== server || one.state === 'remains') return [one];
      if (one.state === 'pulling' && (!isThere || this.#running.has(keyOf(one)))) return [one];
      if (one.state === 'pulled' && isThere) return [one];
      isOther = true;
      return isThere ? [{ ...one, state: 'pulled', bytes: sizes.get(one.model) ?? 0 }] : [];
    });
    if (isOther) void this.#replace(left);
  }

  /** Before the transfer: a crash of this process must not lose count of it. */
  begin(server: string, model: string): Promise<void> {
    const row: Pulled = { server, model, bytes: 0, state: 'pulling', at: this.#parts.now() };
    this.#running.add(keyOf(row));
    return this.#replace([...this.#without(server, model), row]);
  }

  /** The models that a pull has brought, in place of what was known of it. */
  async ended(server: string, model: string, brought: readonly Brought[]): Promise<void> {
    const at = this.#parts.now();
    this.#running.delete(keyOf({ server, model }));
    const rows = brought.map((one): Pulled => ({ server, at, ...one }));
    await this.#replace([...this.#without(server, model, ...rows), ...rows]);
  }

  removed(server: string, model: string): Promise<void> {
    return this.#replace(this.#without(server, model));
  }

  /** Resolves when the record is on the disk. */
  close(): Promise<void> {
    return this.#written;
  }

  #valid(): readonly Pulled[] {
    const now = this.#parts.now();
    return this.#models.filter(({ state, at }) => state === 'pulled' || now - at < REMAINS_MS);
  }

  #without(server: string, model: string, ...more: readonly Pulled[]): readonly Pulled[] {
    const gone = new Set([model, ...more.map((one) => one.model)]);
    return this.#valid().filter((one) => one.server !== server || !gone.has(one.model));
  }

  async #replace(models: readonly Pulled[]): Promise<void> {
    this.#models = models.slice(-MAX_PULLED);
    const { file, logger } = this.#parts;
    if (file === null || this.fault !== null) return;
    this.#written = this.#written
      .then(() => file.write(this.#models))
      .catch((err: unknown) => logger.error({ err }, 'the record of pulled models is not written'));
    await this.#written;
  }
}

export interface Brought {
  readonly model: string;
  readonly bytes: number;
  readonly state: 'pulled' | 'remains';
}

function keyOf({ server, model }: Pick<Pulled, 'server' | 'model'>): string {
  return `${server} ${model}`;
}
