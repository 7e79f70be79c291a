import { defineConfig } from 'vitest/config';

/** Only `npm run test:clients`, which installs the programs. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['programs.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  },
});
