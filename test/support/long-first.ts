/**
 * The order of the files: vitest knows of a fresh clone their sizes alone, and begins with the
 * largest. A small one that takes long would begin last, and all workers but its own would idle.
 */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Those that take longest of the small ones, the longest first. */
const LONG = [
  'store/contract.test.ts',
  'e2e/kills.test.ts',
  'faults/hostile-memory.test.ts',
  'api/stock-retries.test.ts',
  'scripts/quickstart.test.ts',
  'faults/lost-links.test.ts',
  'faults/agent-kills.test.ts',
  'faults/coordinator-kills.test.ts',
].map((file) => `test/${file}`);

/** For vitest's own order of all others. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Vitest's own, which copies its argument.
    // oxlint-disable-next-line unicorn/no-array-sort
    const inItsOrder = await super.sort(files);
    return inItsOrder.toSorted((a, b) => this.#place(a) - this.#place(b));
  }

  #place({ moduleId }: TestSpecification): number {
    const index = LONG.indexOf(relative(this.ctx.config.root, moduleId));
    return index < 0 ? LONG.length : index;
  }
}
