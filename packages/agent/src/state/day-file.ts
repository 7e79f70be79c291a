/** The last 24 hours on disk, so that they survive a restart: `day.json` in the state folder. */
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { dayCard, dayOfMachine, DAY_LIMITS } from '@inference-gateway/shared/protocol/gpu-asks';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

const day = z.object({
  cards: z.array(dayCard).max(DAY_LIMITS.cards),
  day: dayOfMachine,
});

export type Day = Readonly<z.infer<typeof day>>;

/** `DAY_LIMITS.cards` cards with the longest numbers take 0.6 MB. */
export const MAX_DAY_FILE_BYTES = 1_000_000;

export class DayFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'day.json');
  }

  /** Null if there is none. One that is invalid is renamed to `day.json.broken`; throws then. */
  async read(): Promise<Day | null> {
    try {
      const { size } = await stat(this.#file);
      if (size > MAX_DAY_FILE_BYTES) throw new Error(`it has ${size} bytes`);
      return day.parse(JSON.parse(await readFile(this.#file, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      await rename(this.#file, `${this.#file}.broken`);
      throw error;
    }
  }

  async write(value: Day): Promise<void> {
    await writeDurably(this.#file, JSON.stringify(value));
  }
}
