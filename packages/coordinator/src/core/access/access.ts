/**
 * Who may use what: the one rule behind `/models`, routing, voices, the queue summary and every
 * list. Source: specification 1.3: the models of own providers, plus services that are shared with
 * the caller. Private by default.
 */
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import type { KeyRules } from '../usage/quota.js';
import type { Refusal } from '../usage/quotas.js';
import type { Alias } from './aliases.js';
import type { Caller } from './caller.js';
import type { ShareState } from './sharing.js';

/** The fields of a caller that the rule reads. */
export interface Asking extends Pick<Caller, 'memberId' | 'scope'> {
  /** Of a restricted key: no other model exists for it. Absent or null: all models. */
  readonly rules?: Pick<KeyRules, 'models' | 'endpoints'> | null;
}

/** The fields of a provider that the rule reads. */
export interface Shared {
  readonly ownerId: string;
  /** It serves no member. */
  readonly closed: boolean;
  readonly shares: readonly ShareState[];
}

/** A model of one of the provider's services. */
export interface Subject {
  readonly serviceId: string;
  /** False: its owner's machine takes no work of other members here, even if it is shared. */
  readonly foreign: boolean;
  readonly model: string;
}

/** The permission that lets a caller use a model of a provider. */
export interface Grant {
  /** Null if the provider is the caller's own. */
  readonly shareId: string | null;
  /** False outside the hours of the share. */
  readonly isOpen: boolean;
  /** Free slots of the share; null if the share has no slot limit. */
  readonly slotsLeft: number | null;
  /** For one answer; null if there is no limit. */
  readonly maxTokens: number | null;
  /** Nothing is left of the quota of the share; absent: something is, or it has none. */
  readonly spent?: Refusal;
}

const OWN: Grant = { shareId: null, isOpen: true, slotsLeft: null, maxTokens: null };

/**
 * The rule. Null if the caller may not use the provider and must not learn that it exists. If
 * several shares apply, the one that gives most now.
 */
export function grantOf(asking: Asking, provider: Shared, subject: Subject): Grant | null {
  if (provider.closed || !mayName(asking, subject.model)) return null;
  if (provider.ownerId === asking.memberId) return OWN;
  if (asking.scope === 'own' || !subject.foreign) return null;
  let best: Grant | null = null;
  for (const share of provider.shares) {
    if (!covers(share, subject) || !share.members.has(asking.memberId)) continue;
    const { id: shareId, isOpen, slotsLeft, maxTokens, spent } = share;
    const grant = { shareId, isOpen, slotsLeft, maxTokens, ...(spent && { spent }) };
    if (best === null || givesMore(grant, best)) best = grant;
  }
  return best;
}

/** Whether the rules of the caller's key allow the model. */
export function mayName({ rules }: Pick<Asking, 'rules'>, model: string): boolean {
  return rules?.models?.includes(model) ?? true;
}

/** Whether the rules of the caller's key allow requests for work at this path. */
export function mayCall({ rules }: Pick<Asking, 'rules'>, path: string): boolean {
  return rules?.endpoints?.some((one) => path === one || path.startsWith(`${one}/`)) ?? true;
}

/**
 * The caller as an alias lets them reach its chain. A key whose list names the alias reaches the
 * whole chain through it, and none of it by its own name; any other restricted key reaches only
 * those models that its list names.
 */
export function throughAlias<Caller extends Asking>(caller: Caller, { name }: Alias): Caller {
  const { rules } = caller;
  if (!rules || !(rules.models?.includes(name) ?? false)) return caller;
  return { ...caller, rules: { ...rules, models: null } };
}

/** A provider as the rest of the coordinator sees it: what it serves, and whose work it takes. */
export interface Serving extends Shared {
  readonly link: { readonly accepts: 'all' | 'own' | 'none' } | null;
  readonly draining: boolean;
  readonly services: readonly AdvertisedService[];
}

/** One model that a provider serves a caller. */
export interface ServedModel {
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
}

/** The models it would serve this caller now if a slot were free. */
export function servedModels(provider: Serving, asking: Asking): readonly ServedModel[] {
  const { link, draining } = provider;
  if (link === null || draining || link.accepts === 'none') return [];
  if (link.accepts === 'own' && provider.ownerId !== asking.memberId) return [];
  return visibleModels(provider, asking).filter(({ grant }) => grant.isOpen);
}

/** The models that this caller may know of, online or not, also outside the hours of a share. */
export function visibleModels(
  provider: Omit<Serving, 'link' | 'draining'>,
  asking: Asking,
): readonly (ServedModel & { readonly grant: Grant })[] {
  const visible = [];
  for (const service of provider.services) {
    for (const model of service.models) {
      const grant = grantOf(asking, provider, subjectOf(service, model));
      if (grant !== null) visible.push({ service, model, grant });
    }
  }
  return visible;
}

export function subjectOf(service: AdvertisedService, { id: model }: AdvertisedModel): Subject {
  return { serviceId: service.service_id, foreign: service.foreign ?? true, model };
}

function covers(share: ShareState, { serviceId, model }: Subject): boolean {
  if (share.serviceId !== null) return share.serviceId === serviceId;
  return share.model === null || share.model === model;
}

/** Within the hours of its share, whose quota is not used up. */
export function isUsable({ isOpen, spent }: Grant): boolean {
  return isOpen && spent === undefined;
}

/** Usable now comes first, then the longer answers. */
function givesMore(a: Grant, b: Grant): boolean {
  const usable = (grant: Grant): boolean => isUsable(grant) && grant.slotsLeft !== 0;
  if (usable(a) !== usable(b)) return usable(a);
  if (isUsable(a) !== isUsable(b)) return isUsable(a);
  if (a.isOpen !== b.isOpen) return a.isOpen;
  return (a.maxTokens ?? Infinity) > (b.maxTokens ?? Infinity);
}
