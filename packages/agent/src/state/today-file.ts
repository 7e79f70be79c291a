/** Today's use on disk, so that it survives a restart: `today.json` in the state folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

const amount = z.number().min(0);

const sums = z.object({
  requests: amount,
  /** Requests without an answer, except cancelled ones and those handed back. */
  failed: amount,
  promptTokens: amount,
  completionTokens: amount,
  /** Requests whose tokens were not counted by the local server. */
  estimated: amount.default(0),
  /** Total duration of the runs. */
  seconds: amount,
  /** Null until a card has reported its power. */
  energyWh: amount.nullable(),
});

const row = sums.extend({
  /**
   * The public name. All three are null in the row for callers and models without their own row.
   */
  caller: z.string().nullable(),
  own: z.boolean().nullable(),
  model: z.string().nullable(),
});

const today = z.object({ day: z.iso.date(), rows: z.array(row) });

/** The sums of several runs. */
export type Sums = Readonly<z.infer<typeof sums>>;
/** One caller's use of one model. */
export type DayRow = Readonly<z.infer<typeof row>>;

export interface Today {
  /** The date in this machine's time zone: `2026-02-28`. */
  readonly day: string;
  readonly rows: readonly DayRow[];
}

export class TodayFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'today.json');
  }

  /** Null if there is none. Throws if it is invalid. */
  async read(): Promise<Today | null> {
    try {
      return today.parse(JSON.parse(await readFile(this.#file, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  async write(value: Today): Promise<void> {
    await writeDurably(this.#file, JSON.stringify(value));
  }
}
