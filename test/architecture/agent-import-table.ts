/** The agent's part of the import table. */
import type { Row } from './import-row.js';

export const AGENT_TABLE: Readonly<Record<string, Row>> = {
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
      'agent/src/link',
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
      'agent/src/link',
      'agent/src/work',
      'agent/src/backends',
      'agent/src/backends/backend.ts',
      'agent/src/hardware',
      'agent/src/media',
    ],
  },
  'agent/src/link': {
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
  'agent/src/media': {
    may: ['agent/src/backends/backend.ts'],
    packages: ['libopus-wasm', 'mpg123-decoder'],
  },
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
