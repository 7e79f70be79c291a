/**
 * The way in for the first administrator: a link that is good for as long as nobody is a member. It
 * stands in a file that only the operator can read, and on the terminal of `start`.
 */
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { timingSafeEqual } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const LINK_FILE = 'setup-link';
const PRIVATE = 0o600;

export class SetupLink {
  readonly #file: string;
  /** Null once somebody is a member. */
  #secret: string | null;

  constructor(dataDir: string, hasMembers: boolean) {
    this.#file = join(dataDir, LINK_FILE);
    this.#secret = hasMembers ? null : newSecret('gwf');
  }

  get isOpen(): boolean {
    return this.#secret !== null;
  }

  /** The link, which now lies in its file; null where somebody is a member. */
  async announce(origin: string): Promise<string | null> {
    // One that a crash has left behind opens nothing, and may be readable by others.
    await rm(this.#file, { force: true });
    if (this.#secret === null) return null;
    const link = `${origin}/setup#${this.#secret}`;
    await writeFile(this.#file, `${link}\n`, { mode: PRIVATE, flag: 'wx' });
    return link;
  }

  /** Takes the link or its secret alone, which stands behind the `#`. */
  fits(token: string): boolean {
    if (this.#secret === null) return false;
    const told = token.slice(token.lastIndexOf('#') + 1).trim();
    // Of the hashes: they are as long, whatever was sent.
    const [one, other] = [hashSecret(told), hashSecret(this.#secret)];
    return timingSafeEqual(Buffer.from(one), Buffer.from(other));
  }

  /** For good: somebody is a member, or the coordinator ends. */
  async close(): Promise<void> {
    if (this.#secret === null) return;
    this.#secret = null;
    await rm(this.#file, { force: true });
  }
}
