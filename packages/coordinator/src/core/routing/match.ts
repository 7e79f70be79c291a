/**
 * Chooses the provider of a call: a pure function of a snapshot, and the only place that chooses.
 * Source: specification 1.2 and 1.3; own providers first, then the one that will answer first.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { grantOf, isUsable } from '../access/access.js';
import type { Asking, Grant, Shared } from '../access/access.js';
import type { Standing } from './breaker.js';
import type { Refusal } from '../usage/quotas.js';
import { bestOf, expectedMs } from './estimate.js';
import type { Best, Paced } from './estimate.js';

export type { Asking };

/** One provider's service that has the model, in its current state. */
export interface Candidate extends Shared, Paced {
  readonly providerId: string;
  readonly providerName: string;
  readonly serviceId: string;
  readonly serviceType: ServiceType;
  /** False if the service takes its owner's work alone. */
  readonly foreign: boolean;
  readonly model: AdvertisedModel;
  readonly online: boolean;
  /** Null while it is offline. */
  readonly linkId: string | null;
  /** Another coordinator holds its link: a call takes one hop more. Absent: this one. */
  readonly isRelayed?: boolean;
  /** Monotonic ms at which its last link ended; null while online or before its first link. */
  readonly offlineSince: number | null;
  readonly draining: boolean;
  /** Whose work the owner accepts now. */
  readonly accepts: 'all' | 'own' | 'none';
  readonly freeSlots: number;
  /**
   * Free slots that jobs may take: if there are two or more, one is reserved for synchronous calls.
   */
  readonly freeJobSlots: number;
  /** All slots of the service, free or not. */
  readonly slots: number;
  /** State of its breaker for this model. */
  readonly health: Standing;
  /** The only member that the breaker is open for; null if it is open for all. */
  readonly openFor: string | null;
  /** Time until the next probe, if `health` is `open`; 0 while a probe is running. */
  readonly nextProbeMs: number;
}

/** A candidate for one caller: its free slots are those left for this caller. */
export interface Choice extends Candidate {
  readonly grant: Grant;
  /** Member id. */
  readonly callerId: string;
  /** Of a slot that another coordinator holds for this call: its number there. */
  readonly want?: number;
}

/** What a call requires of a model beyond its name. */
export interface Needs {
  /** Flags that must be among the model's `supported_features`. */
  readonly features: readonly string[];
  /** Voices that the model must have. */
  readonly voices: readonly string[];
  /** The format of the upload or the answer: providers known to support it come first. */
  readonly format: string | null;
  /** What the request contains besides text, such as `image`; absent: nothing. */
  readonly inputs?: readonly string[];
}

export const NO_NEEDS: Needs = { features: [], voices: [], format: null };

export interface MatchRequest {
  readonly caller: Asking;
  readonly needs: Needs;
  /** Providers that have already failed this call. */
  readonly excluded: ReadonlySet<string>;
  /**
   * The provider that has the call's conversation in its prompt cache. Finding it takes time, so it
   * is computed only if there is a choice.
   */
  readonly preferred?: () => string | null;
}

export type Match =
  | { readonly kind: 'chosen'; readonly choice: Choice }
  /** A provider serves it, but every slot is taken. */
  | { readonly kind: 'busy' }
  /** All online providers have failed again and again: they get no calls until then. */
  | { readonly kind: 'broken'; readonly retryInMs: number }
  /** No provider that could serve it is online; `lostAt` is when the last one left, if known. */
  | { readonly kind: 'offline'; readonly lostAt: number | null }
  /** Nothing is left today of what is shared with the caller. */
  | { readonly kind: 'spent'; readonly refusal: Refusal }
  | { readonly kind: 'unknown' };

export function match(candidates: readonly Candidate[], request: MatchRequest): Match {
  if (isBusy(candidates, request)) return { kind: 'busy' };
  const visible = capableOffers(candidates, request);
  if (visible.length === 0) return { kind: 'unknown' };
  const eligible = visible.filter((offer) => isEligible(offer, request));
  if (eligible.length === 0) return absentOrSpent(visible, request);
  const healthy = eligible.filter(({ candidate }) => candidate.health !== 'open');
  if (healthy.length === 0) return { kind: 'broken', retryInMs: firstProbeMs(eligible) };
  const free = healthy.filter((offer) => freeSlotsOf(offer) > 0);
  const best = bestOffer(free, { ...request, of: healthy });
  return best === null ? { kind: 'busy' } : { kind: 'chosen', choice: toChoice(best) };
}

/**
 * The provider for a question that takes no slot, so that busy ones are asked, too; null if there
 * is none now. A model that is not loaded would be loaded for it, and a provider that is due for a
 * probe needs a call of its own.
 */
export function matchBesideSlots(
  candidates: readonly Candidate[],
  request: MatchRequest,
): Choice | null {
  const able = capableOffers(candidates, request).filter((offer) => {
    const { health, model } = offer.candidate;
    return health === 'closed' && model.loaded !== false && isEligible(offer, request);
  });
  const best = bestOffer(able, { ...request, of: able });
  return best && toChoice(best);
}

function absentOrSpent(visible: readonly Offer[], request: MatchRequest): Match {
  for (const offer of visible) {
    const { spent, ...grant } = offer.grant;
    if (spent !== undefined && isEligible({ ...offer, grant }, request)) {
      return { kind: 'spent', refusal: spent };
    }
  }
  return { kind: 'offline', lostAt: lastLoss(visible) };
}

/**
 * Most checks of a long queue end here, and this finds it without an estimate: each slot that is
 * freed is offered to all that wait.
 */
function isBusy(candidates: readonly Candidate[], request: MatchRequest): boolean {
  let isServed = false;
  for (const candidate of candidates) {
    // Candidates without a free slot cannot change the result.
    if (isServed && candidate.freeSlots <= 0) continue;
    const offer = offerTo(request.caller, candidate);
    if (offer === null || !isCapable(candidate, request.needs)) continue;
    if (offer.candidate.health === 'open' || !isEligible(offer, request)) continue;
    if (freeSlotsOf(offer) > 0) return false;
    isServed = true;
  }
  return isServed;
}

/** The models, one per provider, that could serve this caller now or as soon as a slot is free. */
export function servingModels(
  candidates: readonly Candidate[],
  caller: Asking,
): readonly AdvertisedModel[] {
  const request = { caller, needs: NO_NEEDS, excluded: new Set<string>() };
  return offersTo(caller, candidates)
    .filter((offer) => isEligible(offer, request))
    .map(({ candidate }) => candidate.model);
}

/**
 * The models that a call is adapted to: those that could serve it now or, if there are none, those
 * that may be back in a moment.
 */
export function fittingModels(
  candidates: readonly Candidate[],
  caller: Asking,
): readonly AdvertisedModel[] {
  const serving = servingModels(candidates, caller);
  if (serving.length > 0) return serving;
  return knownModels(candidates, caller);
}

/** The models, one per provider, that the caller may use, online or not. */
export function knownModels(
  candidates: readonly Candidate[],
  caller: Asking,
): readonly AdvertisedModel[] {
  return offersTo(caller, candidates).map(({ candidate }) => candidate.model);
}

/** Candidates that could ever serve such a call, online or not. */
export function capableCandidates(
  candidates: readonly Candidate[],
  request: Omit<MatchRequest, 'excluded'>,
): readonly Choice[] {
  return capableOffers(candidates, request).map(toChoice);
}

/** Whether this model of a provider could ever serve such a call, online or not. */
export function couldServe(
  { shared, serviceId, foreign, model }: SharedModel,
  { caller, needs }: Pick<MatchRequest, 'caller' | 'needs'>,
): boolean {
  const grant = grantOf(caller, shared, { serviceId, foreign, model: model.id });
  return grant !== null && isCapable({ model }, needs);
}

interface SharedModel extends Pick<Candidate, 'serviceId' | 'foreign' | 'model'> {
  readonly shared: Shared;
}

/** Whether it would take this caller's work now if a slot were free. */
export function takesWork(choice: Choice): boolean {
  return letsIn(choice, choice.grant);
}

/**
 * A candidate and the grant that lets the caller use it. Kept as two parts instead of a `Choice`:
 * creating one object for each of 300 candidates costs more than the whole decision.
 */
interface Offer {
  readonly candidate: Candidate;
  readonly grant: Grant;
  readonly callerId: string;
}

function toChoice({ candidate, grant, callerId }: Offer): Choice {
  const most = grant.slotsLeft ?? Infinity;
  const { freeSlots, freeJobSlots } = candidate;
  return {
    ...candidate,
    grant,
    callerId,
    freeSlots: Math.min(freeSlots, most),
    freeJobSlots: Math.min(freeJobSlots, most),
  };
}

function freeSlotsOf({ candidate, grant }: Offer): number {
  return Math.min(candidate.freeSlots, grant.slotsLeft ?? Infinity);
}

/** The candidates that the caller may use. */
function offersTo(caller: Asking, candidates: readonly Candidate[]): readonly Offer[] {
  const offers: Offer[] = [];
  for (const candidate of candidates) {
    const offer = offerTo(caller, candidate);
    if (offer !== null) offers.push(offer);
  }
  return offers;
}

function offerTo(caller: Asking, candidate: Candidate): Offer | null {
  const { serviceId, foreign, model } = candidate;
  const grant = grantOf(caller, candidate, { serviceId, foreign, model: model.id });
  const { memberId: callerId } = caller;
  return grant && { candidate: asBrokenFor(callerId, candidate), grant, callerId };
}

/** A breaker that opened for one member alone counts as closed for all others. */
function asBrokenFor(memberId: string, candidate: Candidate): Candidate {
  const { health, openFor } = candidate;
  if (health === 'closed' || openFor === null || openFor === memberId) return candidate;
  return { ...candidate, health: 'closed', nextProbeMs: 0 };
}

function capableOffers(
  candidates: readonly Candidate[],
  { caller, needs }: Omit<MatchRequest, 'excluded'>,
): readonly Offer[] {
  return offersTo(caller, candidates).filter(({ candidate }) => isCapable(candidate, needs));
}

function isCapable({ model }: Pick<Candidate, 'model'>, needs: Needs): boolean {
  const { supported_features: features, voices = [] } = model;
  if (!needs.features.every((feature) => features.includes(feature))) return false;
  if (!mayTake(model, needs.inputs)) return false;
  return needs.voices.every((voice) => voices.includes(voice));
}

/** False only if it is known that the model does not take all of these kinds of input. */
export function mayTake(model: AdvertisedModel, inputs: readonly string[] = []): boolean {
  return model.inputs_known !== true || surelyTakes(model, inputs);
}

function surelyTakes({ input_modalities: taken }: AdvertisedModel, inputs: readonly string[] = []) {
  return inputs.every((input) => taken.includes(input));
}

function letsIn({ online, draining, accepts }: Candidate, grant: Grant): boolean {
  if (!online || draining || !isUsable(grant)) return false;
  return accepts === 'all' || (accepts === 'own' && grant.shareId === null);
}

function isEligible({ candidate, grant }: Offer, { excluded }: MatchRequest): boolean {
  return letsIn(candidate, grant) && !excluded.has(candidate.providerId);
}

function lastLoss(visible: readonly Offer[]): number | null {
  const losses = visible.flatMap(({ candidate }) => candidate.offlineSince ?? []);
  return losses.length === 0 ? null : Math.max(...losses);
}

/** In ms from now. */
function firstProbeMs(broken: readonly Offer[]): number {
  return Math.min(...broken.map(({ candidate }) => candidate.nextProbeMs));
}

/** `of` are all that could serve the call if they were free. */
function bestOffer(
  free: readonly Offer[],
  { needs, preferred, of }: MatchRequest & { readonly of: readonly Offer[] },
): Offer | null {
  const [first = null, ...others] = free;
  if (of.length < 2) return first;
  const best = bestOf(of.map(({ candidate }) => candidate));
  const order = { needs, preferred: preferred?.() ?? null, best };
  return others.reduce((a, b) => (a !== null && compare(a, b, order) <= 0 ? a : b), first);
}

interface Order {
  readonly needs: Needs;
  readonly preferred: string | null;
  readonly best: Best;
}

/**
 * Negative if `a` is the better choice. A provider that is due for a probe comes before the healthy
 * ones for this one call, otherwise it would never be found to work again.
 */
function compare(one: Offer, other: Offer, { needs, preferred, best }: Order): number {
  const [a, b] = [one.candidate, other.candidate];
  return (
    preferTrue(handles(a, needs), handles(b, needs)) ||
    preferTrue(one.grant.shareId === null, other.grant.shareId === null) ||
    preferTrue(a.health === 'probe', b.health === 'probe') ||
    preferTrue(hasCache(a, preferred), hasCache(b, preferred)) ||
    expectedMs(a, best) - expectedMs(b, best) ||
    // Both count as equally fast: this call measures a provider that is new.
    preferTrue(a.pace.measuredAt === null, b.pace.measuredAt === null) ||
    preferTrue(a.isRelayed !== true, b.isRelayed !== true) ||
    freeSlotsOf(other) - freeSlotsOf(one)
  );
}

function handles({ model }: Candidate, { format, inputs }: Needs): boolean {
  if (!surelyTakes(model, inputs)) return false;
  return format === null || (model.formats?.includes(format) ?? true);
}

/** A model that was unloaded lost its prompt cache. */
function hasCache({ providerId, model }: Candidate, preferred: string | null): boolean {
  return providerId === preferred && model.loaded !== false;
}

function preferTrue(a: boolean, b: boolean): number {
  return Number(b) - Number(a);
}
