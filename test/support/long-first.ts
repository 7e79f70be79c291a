/**
 * The order of the test files. In a fresh clone vitest knows only their sizes, and begins with the
 * largest. A small but slow file would start last, and the other workers would be idle meanwhile.
 */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** The slowest of the small files, the slowest first. */
const LONG = [
  'store/postgres-contract.test.ts',
  'store/contract.test.ts',
  'cluster/lost-database.test.ts',
  'cluster/changes-under-way.test.ts',
  'e2e/kills.test.ts',
  'faults/hostile-memory.test.ts',
  'api/stock-retries.test.ts',
  'scripts/quickstart.test.ts',
  'faults/lost-links.test.ts',
  'faults/agent-kills.test.ts',
  'faults/coordinator-kills.test.ts',
].map((file) => `test/${file}`);

/** Puts them before vitest's own order of the others. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // This is vitest's own `sort`, which copies its argument.
    // oxlint-disable-next-line unicorn/no-array-sort
    const inItsOrder = await super.sort(files);
    return inItsOrder.toSorted((a, b) => this.#place(a) - this.#place(b));
  }

  #place({ moduleId }: TestSpecification): number {
    const index = LONG.indexOf(relative(this.ctx.config.root, moduleId));
    return index < 0 ? LONG.length : index;
  }
}
