/**
 * Which way imports point: architecture.md's table, one row a folder. A folder that is in no row
 * fails, so that a new one is placed here before it is used.
 */
import { AGENT_TABLE } from './agent-import-table.js';
import type { Row } from './import-row.js';
import { WEB_TABLE } from './web-import-table.js';

/** What the store's port is made of. */
const STORE_PARTS = ['asset', 'audit', 'device', 'dispatch', 'job', 'key', 'member', 'provider']
  .concat(['sharing', 'usage', 'webhook'])
  .map((part) => `coordinator/src/store/${part}-store.ts`)
  .concat('coordinator/src/store/outcomes.ts');
const STORE_PART: Row = { may: ['coordinator/src/core', ...STORE_PARTS] };

/** Keys are paths below `packages/`; a key with a dot is one file, the longest that fits counts. */
export const TABLE: Readonly<Record<string, Row>> = {
  'shared/src': { may: [], packages: ['zod', 'fastest-levenshtein'], node: false },
  'shared/src/program': { may: ['shared/src'], packages: ['pino', 'zod'] },

  'coordinator/src/main.ts': { may: ['coordinator/src/cli'], packages: ['commander'] },
  'coordinator/src/cli': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/coordinator.ts',
      'coordinator/src/config/config.ts',
      'coordinator/src/operations',
      'coordinator/src/assets',
      'coordinator/src/backup',
      'coordinator/src/demo',
      'coordinator/src/jobs/offline-jobs.ts',
      'coordinator/src/program-version.ts',
      'coordinator/src/store/port.ts',
      'coordinator/src/store/open.ts',
      'coordinator/src/core',
    ],
    packages: ['@bomb.sh/tab', 'commander', 'zod'],
  },
  'coordinator/src/config/config.ts': { may: [], packages: ['zod'] },
  'coordinator/src/coordinator.ts': {
    may: [
      'coordinator/src/config/config.ts',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/store/open.ts',
      'coordinator/src/assets',
      'coordinator/src/media',
      'coordinator/src/links',
      'coordinator/src/dispatch',
      'coordinator/src/http',
      'coordinator/src/http/dashboard/live.ts',
      'coordinator/src/accounts',
      'coordinator/src/operations',
      'coordinator/src/coordinator.ts',
      'coordinator/src/operations/my',
      'coordinator/src/jobs/webhooks',
      'coordinator/src/coordinator.ts',
      'coordinator/src/exposition.ts',
      'coordinator/src/exposition.ts',
      'coordinator/src/program-version.ts',
      'coordinator/src/coordinator.ts',
      'coordinator/src/jobs/webhooks',
    ],
  },
  'coordinator/src/program-version.ts': { may: [] },
  // People and machines for a look: they come in by the store, by links and by HTTP, as real ones.
  'coordinator/src/demo': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/assets',
      'coordinator/src/core',
      'coordinator/src/program-version.ts',
      'coordinator/src/store/port.ts',
    ],
    packages: ['ws', 'zod'],
  },
  // Parts of it, each in a file of its own for its length.
  'coordinator/src/coordinator.ts 2': {
    may: [
      'coordinator/src/store/port.ts',
      'coordinator/src/assets',
      'coordinator/src/media',
      'coordinator/src/http',
    ],
  },
  'coordinator/src/coordinator.ts 3': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/operations',
      'coordinator/src/assets',
      'coordinator/src/config/config.ts',
      'coordinator/src/dispatch',
      'coordinator/src/links',
      'coordinator/src/program-version.ts',
      'coordinator/src/store/open.ts',
      'coordinator/src/store/port.ts',
    ],
  },
  'coordinator/src/coordinator.ts 4': {
    may: [
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/assets',
      'coordinator/src/dispatch',
      'coordinator/src/exposition.ts',
      'coordinator/src/http',
      'coordinator/src/jobs/webhooks',
    ],
  },
  'coordinator/src/exposition.ts': {
    may: [
      'coordinator/src/assets',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/dispatch',
      'coordinator/src/http',
      'coordinator/src/exposition.ts',
    ],
  },
  // Joins the metrics to the coordinator.
  'coordinator/src/exposition.ts 2': {
    may: ['coordinator/src/metrics', 'coordinator/src/http', 'coordinator/src/store/port.ts'],
  },
  'coordinator/src/core': { may: [], node: false },
  // What the store does, without how: all that whoever uses it may know.
  'coordinator/src/store/port.ts': STORE_PART,
  // Its parts: whoever uses them imports the port.
  ...Object.fromEntries(STORE_PARTS.map((file) => [file, STORE_PART])),
  // What every adapter shares.
  'coordinator/src/store': { may: ['coordinator/src/store/port.ts', 'coordinator/src/core'] },
  'coordinator/src/store/sqlite': {
    may: ['coordinator/src/store/port.ts', 'coordinator/src/store', 'coordinator/src/core'],
    packages: ['better-sqlite3', 'zod'],
  },
  'coordinator/src/store/open.ts': {
    may: [
      'coordinator/src/store/port.ts',
      'coordinator/src/store/lock.ts',
      'coordinator/src/store/sqlite',
    ],
  },
  'coordinator/src/store/lock.ts': { may: [], packages: ['better-sqlite3'] },
  'coordinator/src/assets': {
    may: ['coordinator/src/core', 'coordinator/src/store/port.ts', 'coordinator/src/media'],
  },
  // One archive of a data folder, and the only home of the library that knows archives.
  'coordinator/src/backup': {
    may: [
      'coordinator/src/core',
      'coordinator/src/assets',
      'coordinator/src/store/port.ts',
      'coordinator/src/store/open.ts',
    ],
    packages: ['tar', 'zod'],
  },
  // How long sound and film last, and the only home of the library that knows their formats.
  'coordinator/src/media': { may: [], packages: ['music-metadata'] },
  'coordinator/src/links': {
    may: ['coordinator/src/core', 'coordinator/src/store/port.ts'],
    packages: ['ws', 'zod'],
  },
  'coordinator/src/dispatch': {
    may: ['coordinator/src/core', 'coordinator/src/store/port.ts', 'coordinator/src/assets'],
  },
  // Stands in for it where no coordinator runs.
  'coordinator/src/jobs/offline-jobs.ts': {
    may: ['coordinator/src/dispatch', 'coordinator/src/store/port.ts'],
  },
  'coordinator/src/http': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/dispatch',
      'coordinator/src/assets',
      'coordinator/src/media',
      'coordinator/src/operations/my',
      'coordinator/src/openapi',
    ],
    packages: ['koa', '@koa/router', 'busboy', 'send', 'zod'],
  },
  // The dashboard's tabs: of `http`, the only part that sees a socket.
  'coordinator/src/http/dashboard/live.ts': { may: ['coordinator/src/http'], packages: ['ws'] },
  // The interface described, from the tables and schemas that serve it.
  'coordinator/src/openapi': { may: ['coordinator/src/core'], packages: ['zod'], node: false },
  // Tells callers that their jobs have ended; the only home of the signing and address libraries.
  'coordinator/src/jobs/webhooks': {
    may: ['coordinator/src/core', 'coordinator/src/store/port.ts'],
    packages: ['standardwebhooks', 'ipaddr.js'],
  },
  // What Prometheus may know, and the only home of its library.
  'coordinator/src/metrics': {
    may: ['coordinator/src/core', 'coordinator/src/store/port.ts', 'coordinator/src/dispatch'],
    packages: ['prom-client'],
  },
  // What members are known by, for whoever makes or checks it.
  'coordinator/src/accounts': { may: ['coordinator/src/core'], packages: ['zod'] },
  // What members may do with what is theirs: the administrative operations, guarded.
  'coordinator/src/operations/my': {
    may: ['coordinator/src/operations', 'coordinator/src/core', 'coordinator/src/store/port.ts'],
    packages: ['zod'],
  },
  'coordinator/src/operations': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/dispatch',
    ],
    packages: ['zod'],
  },
  ...AGENT_TABLE,
  ...WEB_TABLE,
};
