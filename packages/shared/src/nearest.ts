/** Suggestions for a mistyped name ("did you mean"). */
import { distance } from 'fastest-levenshtein';

const MAX_SUGGESTIONS = 3;

/**
 * Up to three of the candidates that differ little from the name or contain it, the nearest
 * first.
 */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, score: score(wanted, candidate.toLowerCase(), limit) }))
    .filter(({ score }) => score <= limit)
    .toSorted((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

/** `did you mean a or b?`; null if no candidate is near. */
export function didYouMean(name: string, candidates: readonly string[]): string | null {
  const near = nearest(name, candidates);
  return near.length === 0 ? null : `did you mean ${near.join(' or ')}?`;
}

/** Names whose lengths differ by more than the limit are not compared, which would take long. */
function score(wanted: string, candidate: string, limit: number): number {
  if (wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(candidate))) return 1;
  if (Math.abs(wanted.length - candidate.length) > limit) return Infinity;
  return distance(wanted, candidate);
}
