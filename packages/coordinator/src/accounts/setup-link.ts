/**
 * The link that creates the first administrator. It is valid until the first member exists. It is
 * written to a file that only the operator can read, and `start` prints it.
 */
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { timingSafeEqual } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../store/port.js';

const LINK_FILE = 'setup-link';
const PRIVATE = 0o600;

interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

type SetupStore = Pick<Store, 'listMembers' | 'sharedSecret'>;

export class SetupLink {
  readonly #file: string;
  readonly #store: Pick<Store, 'listMembers'>;
  /** Null if a member exists. */
  #secret: string | null;

  private constructor(dataDir: string, store: SetupStore, secret: string | null) {
    this.#file = join(dataDir, LINK_FILE);
    this.#store = store;
    this.#secret = secret;
  }

  /** Coordinators of one database on PostgreSQL have one link: each of them accepts it. */
  static async open({ dataDir, databaseUrl }: Place, store: SetupStore, now: number) {
    const own = newSecret('gwf');
    if ((await store.listMembers()).length > 0) return new SetupLink(dataDir, store, null);
    if (databaseUrl === null) return new SetupLink(dataDir, store, own);
    const shared = await store.sharedSecret('set-up link', Buffer.from(own), now);
    return new SetupLink(dataDir, store, Buffer.from(shared).toString());
  }

  get isOpen(): boolean {
    return this.#secret !== null;
  }

  /**
   * Whether nobody is a member yet. Another coordinator of the database may have made the first
   * one: then the link is closed here, too.
   */
  async awaitsFirst(): Promise<boolean> {
    if (this.isOpen && (await this.#store.listMembers()).length > 0) await this.close();
    return this.isOpen;
  }

  /** Writes the link to its file and returns it. Null if a member exists. */
  async announce(origin: string): Promise<string | null> {
    // A link left by a crash is no longer valid, but its file may be readable by others.
    await rm(this.#file, { force: true });
    if (this.#secret === null) return null;
    const link = `${origin}/setup#${this.#secret}`;
    await writeFile(this.#file, `${link}\n`, { mode: PRIVATE, flag: 'wx' });
    return link;
  }

  /** Takes the whole link, or only the secret after the `#`. */
  fits(token: string): boolean {
    if (this.#secret === null) return false;
    const told = token.slice(token.lastIndexOf('#') + 1).trim();
    // Compares hashes because they always have the same length.
    const [one, other] = [hashSecret(told), hashSecret(this.#secret)];
    return timingSafeEqual(Buffer.from(one), Buffer.from(other));
  }

  /** Ends the link for good: a member exists, or the coordinator stops. */
  async close(): Promise<void> {
    if (this.#secret === null) return;
    this.#secret = null;
    await rm(this.#file, { force: true });
  }
}
