/**
 * Which provider serves a call: one pure function over a snapshot. Nothing else chooses a provider.
 * Source: specification 1.2 and 1.3; own providers first, then the one that will answer best.
 */
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { mayUse } from './access.js';
import type { Caller } from './caller.js';

/** One provider's service that has the model, as it stands now. */
export interface Candidate {
  readonly providerId: string;
  readonly providerName: string;
  readonly ownerId: string;
  readonly serviceId: string;
  readonly model: AdvertisedModel;
  readonly online: boolean;
  /** Of its link; null while it is offline. */
  readonly sessionId: string | null;
  /** Unix ms at which it was last online: now, where it is. */
  readonly lastSeenAt: number | null;
  /** Monotonic ms at which its last link ended; null while online, or where it has had none yet. */
  readonly offlineSince: number | null;
  readonly draining: boolean;
  /** Whose work the owner lets in at present. */
  readonly accepts: 'all' | 'own' | 'none';
  readonly freeSlots: number;
  /** Of them, those that jobs may take: one of two or more is kept for synchronous calls. */
  readonly freeJobSlots: number;
  /** Of the service, free or not. */
  readonly slots: number;
  /** Failures within the last minute. */
  readonly recentFailures: number;
  /** Tokens a second, averaged; null until measured. */
  readonly speed: number | null;
}

/** What a call asks of a model beyond its name. */
export interface Needs {
  /** Flags that must be among the model's `supported_features`. */
  readonly features: readonly string[];
  /** Voices that the model must have. */
  readonly voices: readonly string[];
  /** The format of the upload or of the answer: who surely handles it comes first. */
  readonly format: string | null;
}

export const NO_NEEDS: Needs = { features: [], voices: [], format: null };

/** The part of a caller that decides who may serve them. */
export type Asking = Pick<Caller, 'memberId' | 'scope'>;

export interface MatchRequest {
  readonly caller: Asking;
  readonly needs: Needs;
  /** Providers that have already failed this call. */
  readonly excluded: ReadonlySet<string>;
}

export type Match =
  | { readonly kind: 'chosen'; readonly candidate: Candidate }
  /** Somebody serves it, but every slot is taken. */
  | { readonly kind: 'busy' }
  /** Nobody who could serve it is online; one was until `lostAt`, where that is known. */
  | { readonly kind: 'offline'; readonly lostAt: number | null }
  | { readonly kind: 'unknown' };

export function match(candidates: readonly Candidate[], request: MatchRequest): Match {
  const visible = capableCandidates(candidates, request);
  if (visible.length === 0) return { kind: 'unknown' };
  const eligible = visible.filter((candidate) => isEligible(candidate, request));
  if (eligible.length === 0) return { kind: 'offline', lostAt: lastLoss(visible) };
  const free = eligible.filter((candidate) => candidate.freeSlots > 0);
  const best = free.toSorted((a, b) => compare(a, b, request))[0];
  return best === undefined ? { kind: 'busy' } : { kind: 'chosen', candidate: best };
}

/** The models, one a provider, that could serve this caller now, or as soon as a slot is free. */
export function servingModels(
  candidates: readonly Candidate[],
  caller: Asking,
): readonly AdvertisedModel[] {
  const request = { caller, needs: NO_NEEDS, excluded: new Set<string>() };
  return candidates
    .filter((one) => isVisible(one, caller) && isEligible(one, request))
    .map(({ model }) => model);
}

/**
 * The models that a call is fitted to: those that could serve it now, and where there are none,
 * those that may be back in a moment.
 */
export function fittingModels(
  candidates: readonly Candidate[],
  caller: Asking,
): readonly AdvertisedModel[] {
  const serving = servingModels(candidates, caller);
  if (serving.length > 0) return serving;
  return candidates.filter((one) => isVisible(one, caller)).map(({ model }) => model);
}

/** Those that could ever serve such a call, online or not. */
export function capableCandidates(
  candidates: readonly Candidate[],
  request: Omit<MatchRequest, 'excluded'>,
): readonly Candidate[] {
  return candidates.filter((one) => isCapable(one, request));
}

/**
 * When one of these was last online, in Unix ms; null where there are none. One that is online,
 * busy or paused, counts as now.
 */
export function lastReach(capable: readonly Candidate[]): number | null {
  if (capable.length === 0) return null;
  return Math.max(...capable.map(({ lastSeenAt }) => lastSeenAt ?? 0));
}

/** Whether it can ever serve such a call, online or not. */
function isCapable(
  candidate: Candidate,
  { caller, needs }: Omit<MatchRequest, 'excluded'>,
): boolean {
  const { supported_features: features, voices = [] } = candidate.model;
  if (!isVisible(candidate, caller)) return false;
  if (!needs.features.every((feature) => features.includes(feature))) return false;
  return needs.voices.every((voice) => voices.includes(voice));
}

/** The specification's visibility, narrowed to own machines where the caller asks for that. */
function isVisible(candidate: Candidate, caller: Asking): boolean {
  const own = candidate.ownerId === caller.memberId;
  return own || (caller.scope === 'any' && mayUse(caller, candidate));
}

function isEligible(candidate: Candidate, { caller, excluded }: MatchRequest): boolean {
  if (!candidate.online || candidate.draining || excluded.has(candidate.providerId)) return false;
  const own = candidate.ownerId === caller.memberId;
  return candidate.accepts === 'all' || (candidate.accepts === 'own' && own);
}

function lastLoss(visible: readonly Candidate[]): number | null {
  const losses = visible.flatMap(({ offlineSince }) => offlineSince ?? []);
  return losses.length === 0 ? null : Math.max(...losses);
}

/** Negative where `a` is the better choice. */
function compare(a: Candidate, b: Candidate, { caller, needs }: MatchRequest): number {
  return (
    preferTrue(handles(a, needs), handles(b, needs)) ||
    preferTrue(a.ownerId === caller.memberId, b.ownerId === caller.memberId) ||
    preferTrue(a.model.loaded === true, b.model.loaded === true) ||
    standing(b) - standing(a) ||
    (b.speed ?? 0) - (a.speed ?? 0)
  );
}

function handles({ model }: Candidate, { format }: Needs): boolean {
  return format === null || (model.formats?.includes(format) ?? true);
}

function preferTrue(a: boolean, b: boolean): number {
  return Number(b) - Number(a);
}

/** Free slots less recent failures: a provider that fails fast would otherwise look idle. */
function standing(candidate: Candidate): number {
  return candidate.freeSlots - candidate.recentFailures;
}
