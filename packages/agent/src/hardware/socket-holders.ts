/** Which process holds which listening socket, as far as it may be looked at. */
import type { ListeningSocket } from './listening-sockets.js';
import { holdersOf } from './process-table.js';
import type { ProcessTable } from './process-table.js';

/** To look through the files of all processes costs a tenth of a second where they are many. */
const SEARCH_AGAIN_MS = 60_000;

export class SocketHolders {
  readonly #proc: string;
  #found = new Map<string, number>();
  /** Sockets of other users that nobody was seen to hold, and when: nobody would be seen now. */
  #sought = new Map<string, number>();

  constructor(proc: string) {
    this.#proc = proc;
  }

  /** By socket; those whose holder is not seen are left out. */
  async of(
    sockets: readonly ListeningSocket[],
    table: ProcessTable,
  ): Promise<ReadonlyMap<string, number>> {
    const isKnown = sockets.every(({ link }) => this.#isKnown(link, table));
    if (!isKnown) await this.#search(sockets, table);
    return new Map(
      sockets.flatMap(({ link }) => {
        const pid = this.#found.get(link);
        return pid === undefined ? [] : [[link, pid]];
      }),
    );
  }

  #isKnown(link: string, table: ProcessTable): boolean {
    const soughtAt = this.#sought.get(link);
    if (soughtAt === undefined) return table.has(this.#found.get(link) ?? 0);
    return performance.now() - soughtAt < SEARCH_AGAIN_MS;
  }

  async #search(sockets: readonly ListeningSocket[], table: ProcessTable): Promise<void> {
    const links = new Set(sockets.map(({ link }) => link));
    this.#found = await holdersOf(links, { proc: this.#proc, table });
    const now = performance.now();
    const hidden = sockets.filter(({ link, uid }) => uid !== myUser() && !this.#found.has(link));
    this.#sought = new Map(hidden.map(({ link }) => [link, now]));
  }
}

function myUser(): number {
  return process.getuid?.() ?? 0;
}
