/** What was done today, so that it outlives the agent: `today.json` in the state folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

const amount = z.number().min(0);

const sums = z.object({
  requests: amount,
  /** Of them: those without an answer, less those that were canceled or handed back. */
  failed: amount,
  promptTokens: amount,
  completionTokens: amount,
  /** Requests whose tokens were not counted by the local server. */
  estimated: amount.default(0),
  /** That the runs took. */
  seconds: amount,
  /** Null while no card has told its power. */
  energyWh: amount.nullable(),
});

const row = sums.extend({
  /** The public name. All three are null in the row that sums up what has no row of its own. */
  caller: z.string().nullable(),
  own: z.boolean().nullable(),
  model: z.string().nullable(),
});

const today = z.object({ day: z.iso.date(), rows: z.array(row) });

/** What some runs came to. */
export type Sums = Readonly<z.infer<typeof sums>>;
/** What one caller had of one model. */
export type DayRow = Readonly<z.infer<typeof row>>;

export interface Today {
  /** Of this machine's own calendar: `2026-02-28`. */
  readonly day: string;
  readonly rows: readonly DayRow[];
}

export class TodayFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'today.json');
  }

  /** Null where there is none. Throws where it makes no sense. */
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
