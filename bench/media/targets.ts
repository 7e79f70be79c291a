/** What files hold themselves to. */
import { atLeast, atMost, ratio } from '../targets.js';
import type { Target } from '../targets.js';
import { CONNECTIONS, CROWD } from './phases.js';

const AT_ONCE = `${CONNECTIONS} at once`;

export const TARGETS: readonly Target[] = [
  atLeast(0.6, `uploads of 25 MiB, ${AT_ONCE}: MiB/s, against the hop`, (of) =>
    ratio(of, 'upload.rate', 'hop'),
  ),
  atLeast(0.3, `images of 4 MiB, ${AT_ONCE}: MiB/s, against the hop`, (of) =>
    ratio(of, 'image.rate', 'hop'),
  ),
  atLeast(0.5, `embeddings, 1,000 × 1,024 numbers, ${AT_ONCE}: MiB/s, against the hop`, (of) =>
    ratio(of, 'vectors.rate', 'hop'),
  ),
  ...['coordinator', 'agent'].map((role) => ({
    ...atMost(16, `${role} RSS in its first large uploads, against before`, (of) =>
      of('gateway', `memory.growth.${role}`),
    ),
    unit: ' MiB',
  })),
  {
    ...atMost(50, `inter-token p99 added by ${CROWD} uploads at once`, (of) =>
      of('gateway', 'crowd.added'),
    ),
    unit: ' ms',
  },
];
