/**
 * Which way imports point: architecture.md's table, one row a folder. A folder that is in no row
 * fails, so that a new one is placed here before it is used.
 */
export interface Row {
  /** Rows of the same package that may be imported, beside the row itself. */
  readonly may: readonly string[];
  readonly packages?: readonly string[];
  /** False: no `node:` module either. */
  readonly node?: false;
}

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
      'coordinator/src/config.ts',
      'coordinator/src/admin',
      'coordinator/src/assets',
      'coordinator/src/backup',
      'coordinator/src/dispatch/idle-desk.ts',
      'coordinator/src/program-version.ts',
      'coordinator/src/store/port.ts',
      'coordinator/src/store/open.ts',
      'coordinator/src/core',
    ],
    packages: ['@bomb.sh/tab', 'commander', 'zod'],
  },
  'coordinator/src/config.ts': { may: [], packages: ['zod'] },
  'coordinator/src/coordinator.ts': {
    may: [
      'coordinator/src/config.ts',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/store/open.ts',
      'coordinator/src/assets',
      'coordinator/src/media',
      'coordinator/src/links',
      'coordinator/src/dispatch',
      'coordinator/src/http',
      'coordinator/src/admin',
      'coordinator/src/webhooks',
      'coordinator/src/byte-stores.ts',
      'coordinator/src/exposition.ts',
      'coordinator/src/metering.ts',
      'coordinator/src/program-version.ts',
      'coordinator/src/queued-work.ts',
      'coordinator/src/webhooks',
    ],
  },
  'coordinator/src/program-version.ts': { may: [] },
  // Parts of it, each in a file of its own for its length.
  'coordinator/src/byte-stores.ts': {
    may: [
      'coordinator/src/store/port.ts',
      'coordinator/src/assets',
      'coordinator/src/media',
      'coordinator/src/http',
    ],
  },
  'coordinator/src/queued-work.ts': {
    may: [
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/assets',
      'coordinator/src/dispatch',
      'coordinator/src/exposition.ts',
      'coordinator/src/http',
      'coordinator/src/webhooks',
    ],
  },
  'coordinator/src/metering.ts': {
    may: [
      'coordinator/src/assets',
      'coordinator/src/store/port.ts',
      'coordinator/src/dispatch',
      'coordinator/src/http',
      'coordinator/src/exposition.ts',
    ],
  },
  // Joins the metrics to the coordinator.
  'coordinator/src/exposition.ts': {
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
  'coordinator/src/dispatch/idle-desk.ts': {
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
      'coordinator/src/openapi',
    ],
    packages: ['koa', '@koa/router', 'busboy', 'send', 'zod'],
  },
  // The interface described, from the tables and schemas that serve it.
  'coordinator/src/openapi': { may: ['coordinator/src/core'], packages: ['zod'], node: false },
  // Tells callers that their jobs have ended; the only home of the signing and address libraries.
  'coordinator/src/webhooks': {
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
  'coordinator/src/admin': {
    may: [
      'coordinator/src/accounts',
      'coordinator/src/core',
      'coordinator/src/store/port.ts',
      'coordinator/src/dispatch',
    ],
    packages: ['zod'],
  },

  'agent/src/main.ts': { may: ['agent/src/cli'], packages: ['commander'] },
  'agent/src/cli': {
    may: [
      'agent/src/agent.ts',
      'agent/src/agent-version.ts',
      'agent/src/checks',
      'agent/src/config.ts',
      'agent/src/coordinator-api',
      'agent/src/state',
      'agent/src/demo',
      'agent/src/backends',
      'agent/src/backends/backend.ts',
      'agent/src/hardware',
      'agent/src/local-http',
      'agent/src/daemon',
      'agent/src/media',
    ],
    packages: ['@bomb.sh/tab', 'commander', 'zod'],
  },
  'agent/src/agent-version.ts': { may: [], packages: ['zod'] },
  // The doctor's round: it looks at everything that the agent is made of, and joins nothing.
  'agent/src/checks': {
    may: [
      'agent/src/backends',
      'agent/src/config.ts',
      'agent/src/connection',
      'agent/src/hardware',
      'agent/src/media',
      'agent/src/network-fault.ts',
      'agent/src/work',
    ],
    packages: ['node-fetch'],
  },
  'agent/src/config.ts': {
    may: ['agent/src/backends', 'agent/src/backends/backend.ts'],
    packages: ['zod', 'env-paths'],
  },
  // What is asked of the coordinator beside the link: both ways in, and sharing.
  'agent/src/coordinator-api': {
    may: ['agent/src/agent-version.ts', 'agent/src/network-fault.ts'],
    packages: ['node-fetch', 'zod'],
  },
  // Why no coordinator answers, in words.
  'agent/src/network-fault.ts': { may: [] },
  'agent/src/agent.ts': {
    may: [
      'agent/src/agent-version.ts',
      'agent/src/config.ts',
      'agent/src/state',
      'agent/src/connection',
      'agent/src/work',
      'agent/src/backends',
      'agent/src/backends/backend.ts',
      'agent/src/hardware',
      'agent/src/media',
    ],
  },
  'agent/src/connection': {
    may: ['agent/src/agent-version.ts', 'agent/src/network-fault.ts', 'agent/src/work'],
    packages: ['ws', 'zod'],
  },
  'agent/src/work': {
    may: [
      'agent/src/backends',
      'agent/src/backends/backend.ts',
      'agent/src/hardware',
      'agent/src/state',
    ],
    packages: ['zod'],
  },
  // The contract between the agent and a kind of local server.
  'agent/src/backends/backend.ts': { may: [] },
  'agent/src/backends': {
    may: [
      'agent/src/backends/backend.ts',
      'agent/src/openai-wire',
      'agent/src/media',
      'agent/src/state',
    ],
    packages: ['node-fetch', 'undici', 'zod'],
  },
  // Files of sound and images, whoever made them.
  'agent/src/media': { may: ['agent/src/backends/backend.ts'] },
  'agent/src/openai-wire': { may: ['agent/src/backends/backend.ts'], packages: ['zod'] },
  'agent/src/demo': { may: ['agent/src/media', 'agent/src/openai-wire'] },
  // What the owner's own programs may ask, and nobody else's.
  'agent/src/local-http': {
    may: ['agent/src/agent.ts', 'agent/src/agent-version.ts', 'agent/src/work'],
  },
  'agent/src/state': { may: [], packages: ['zod'] },
  'agent/src/hardware': { may: [], packages: ['systeminformation'] },
  'agent/src/daemon': { may: [] },
};
