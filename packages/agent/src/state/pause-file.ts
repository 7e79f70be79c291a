/** The owner's pause on disk, so that it survives a restart: `pause.json` in the state folder. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

export interface Pause {
  /** Unix ms; null: until the owner resumes. */
  readonly until: number | null;
}

const pause = z.object({ until: z.int().nullable() });

export class PauseFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'pause.json');
  }

  /** Null if there is none. An unreadable file counts as a pause without an end. */
  async read(): Promise<Pause | null> {
    try {
      return pause.parse(JSON.parse(await readFile(this.#file, 'utf8')));
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : { until: null };
    }
  }

  async write(value: Pause): Promise<void> {
    await writeDurably(this.#file, JSON.stringify(value));
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}
