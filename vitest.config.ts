import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/clean-slate.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // A process runs many files, and `clean-slate.ts` fails whichever leaves something behind;
    // `vitest run --isolate` gives each a process of its own, which takes minutes longer.
    isolate: false,
    // Tests wait for processes and sockets more than they compute: two at a time on any machine.
    maxWorkers: 2,
  },
});
