import { JsonBodies } from './body.js';

/** Of people and machines that are yet to say who they are: a few fields each. */
const MAX_BYTES = 64 * 1024;
/** Apart from the callers' memory, so that strangers cannot take it up. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export function smallBodies(): JsonBodies {
  return new JsonBodies({ maxJsonBytes: MAX_BYTES, maxBodyMemoryBytes: MAX_HELD_BYTES });
}
