/** What `/readyz` tells: whether anybody could be served now, and if not, why. */
import type { StatusFacts } from './status-facts.js';

export type Readiness =
  | { readonly ready: true; readonly name: string | null; readonly models: number }
  | { readonly ready: false; readonly reason: string };

export function readiness({ connection, reason, name, services }: StatusFacts): Readiness {
  if (connection !== 'online') {
    return { ready: false, reason: reason === null ? connection : `${connection}: ${reason}` };
  }
  const models = services.reduce((sum, { models }) => sum + models.length, 0);
  if (models > 0) return { ready: true, name, models };
  const down = services.flatMap(({ id, reason }) => (reason === null ? [] : [`${id}: ${reason}`]));
  return { ready: false, reason: `no model is up. ${down.join('; ')}`.trim() };
}
