/**
 * The proofs of this machine's models on disk, so that a restart does not ask the models again:
 * `proofs.json` in the state folder.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeDurably } from './write-durably.js';

const proof = z.object({
  service: z.string(),
  model: z.string(),
  served_name: z.string(),
  /** A changed fingerprint means that the service is another server. */
  fingerprint: z.string(),
  ok: z.boolean(),
  /** Why it failed. */
  reason: z.string().nullable(),
  /** Unix ms. */
  at: z.int(),
  /** Number of consecutive failures. */
  failures: z.int().nonnegative(),
});

export type Proof = z.infer<typeof proof>;

export class ProofFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'proofs.json');
  }

  /** Empty if there is none or it is unreadable: the models are asked again. */
  async read(): Promise<readonly Proof[]> {
    try {
      return z.array(proof).parse(JSON.parse(await readFile(this.#file, 'utf8')));
    } catch {
      return [];
    }
  }

  async write(proofs: readonly Proof[]): Promise<void> {
    await writeDurably(this.#file, JSON.stringify(proofs));
  }
}
