/** Models that were pulled at the coordinator's request: `pulled.json` in the state folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

const pulled = z.object({
  /** The server: its root address. */
  server: z.string(),
  /** As the server calls it. */
  model: z.string(),
  /** On the disk, as far as it is known. */
  bytes: z.number().min(0),
  /**
   * `pulling`: it was not there yet when this was written. `remains`: the pull did not end, and the
   * server may keep what had come.
   */
  state: z.enum(['pulling', 'pulled', 'remains']),
  /** Unix ms. */
  at: z.number(),
});

const file = z.object({ models: z.array(pulled) });

export type Pulled = Readonly<z.infer<typeof pulled>>;

export class PulledFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'pulled.json');
  }

  /** Empty if there is none. Throws if it is invalid. */
  async read(): Promise<readonly Pulled[]> {
    try {
      return file.parse(JSON.parse(await readFile(this.#file, 'utf8'))).models;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async write(models: readonly Pulled[]): Promise<void> {
    await writeDurably(this.#file, JSON.stringify({ models }));
  }
}
