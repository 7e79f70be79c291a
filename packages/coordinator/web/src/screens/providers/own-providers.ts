/** The member's providers, and a word for the state of each. */
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import type { Mood } from '../../ui/figures/mood.js';
import { formatMib } from '../../ui/text/format.js';

export type OwnProvider = MyResult<'provider.list'>[number];

export function useOwnProviders() {
  return useMy('provider.list', {}, { topics: ['providers'] });
}

export interface Standing {
  readonly word: string;
  readonly mood: Mood;
  /** An explanation, if the word is not enough. */
  readonly text?: string;
  /** Unix ms. */
  readonly since?: number | null;
}

type Facts = Pick<
  OwnProvider,
  'approved' | 'online' | 'draining' | 'paused' | 'accepts' | 'offline_since' | 'last_seen_at'
>;

/**
 * The first reason that keeps work away from it, in the order in which the coordinator checks them.
 */
export function standingOf(provider: Facts): Standing {
  if (!provider.approved) {
    return { word: 'waiting for approval', mood: 'warn', text: 'An admin has to approve it.' };
  }
  if (!provider.online) {
    const since = provider.offline_since ?? provider.last_seen_at;
    return since === null
      ? { word: 'never connected', mood: 'plain', text: 'Start its agent.' }
      : { word: 'offline', mood: 'bad', since };
  }
  if (provider.draining) return { word: 'draining', mood: 'warn', text: DRAINING };
  if (provider.paused) return { word: 'paused', mood: 'warn', text: PAUSED };
  if (provider.accepts === 'all') return { word: 'online', mood: 'good' };
  return provider.accepts === 'own'
    ? { word: 'online, yours alone', mood: 'accent', text: KEPT }
    : { word: 'online, takes no work', mood: 'warn', text: KEPT };
}

const DRAINING = 'It finishes running work and gets no new work.';
const PAUSED = 'It does only your own work.';
const KEPT = 'Its agent says so: it is paused there, outside its hours, or the card is in use.';

type Host = Pick<OwnProvider, 'host'>;

/** `NVIDIA RTX 4090`, `2 × NVIDIA RTX 3090`; null if the agent has reported none. */
export function gpuText({ host }: Host): string | null {
  const names = (host?.gpus ?? []).map(({ name, vendor }) => name ?? vendor ?? 'GPU');
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const parts = [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`));
  return parts.length === 0 ? null : parts.join(', ');
}

/** The sum of all its GPUs; null if unknown. */
export function vramText({ host }: Host): string | null {
  const mib = (host?.gpus ?? []).reduce((sum, { vram_mib: one }) => sum + (one ?? 0), 0);
  return mib === 0 ? null : formatMib(mib);
}

/** The temperature of its hottest GPU; null if unknown. */
export function heatText({ gpus }: Pick<OwnProvider, 'gpus'>): string | null {
  const degrees = gpus.flatMap(({ temperature_c: one }) => one ?? []);
  return degrees.length === 0 ? null : `${Math.round(Math.max(...degrees))} °C`;
}
