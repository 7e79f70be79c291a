import { defineConfig } from 'vitest/config';
import { CpuReporter } from './test/support/cpu-time.js';
import { LongFirst } from './test/support/long-first.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/bundled-programs.ts', 'test/support/shared-postgres.ts'],
    setupFiles: ['test/support/clean-slate.ts'],
    // Patience with a busy machine: limits that a test is about are its own.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new CpuReporter()],
    pool: 'forks',
    // A process runs many files, and `clean-slate.ts` fails whichever leaves something behind;
    // `vitest run --isolate` gives each a process of its own, which takes minutes longer.
    isolate: false,
    // What tsc has built is loaded as Node loads it: vitest would compile it once more, for slower.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
    // Tests wait for processes and sockets half of their time: four at once keep two cores busy,
    // and each still has the time that it needs.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
  },
});
