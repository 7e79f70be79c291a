import { Budget } from '../../core/usage/budget.js';
import { JsonBodies } from './body.js';

/** Of people and machines that are yet to say who they are: a few fields each. */
const MAX_BYTES = 64 * 1024;
/** Apart from the callers' memory, so that strangers cannot take it up. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** Of one member, or one network of strangers: slow senders leave the rest to the others. */
const MAX_HELD_BY_ONE_BYTES = MAX_HELD_BYTES / 4;

export function smallBodies(): JsonBodies {
  const budget = new Budget({ totalBytes: MAX_HELD_BYTES, memberBytes: MAX_HELD_BY_ONE_BYTES });
  return new JsonBodies({ maxJsonBytes: MAX_BYTES }, { budget, large: null });
}
