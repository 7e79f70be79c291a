import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // Tests wait for processes and sockets more than they compute: two at a time on any machine.
    maxWorkers: 2,
  },
});
