/**
 * The models that a call may be sent to: one, or those of the alias that it names. Each is fitted
 * when its turn comes.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../../core/access/caller.js';
import type { Links } from '../../core/routing/links.js';
import { knownModels, servingModels } from '../../core/routing/match.js';
import type { Asking } from '../../core/routing/match.js';
import { resolve } from '../../core/routing/resolve.js';
import type { Resolved } from '../../core/routing/resolve.js';
import { aliasUnserved, modelAbsent, modelNotFound } from '../../run/absence.js';
import type { CalledAlias } from '../../run/work.js';
import type { FittedCall } from './fit-call.js';
import { relayedKind } from './kinds.js';
import type { ReadCall } from './read-call.js';

/** A request and its endpoint. */
export interface Asked {
  readonly endpoint: EndpointKey;
  readonly call: ReadCall;
}

/** The model whose turn it is, and the call as it is sent to it. */
export interface Turn {
  readonly model: string;
  readonly fitted: FittedCall;
}

export class Chain<Who extends Asking = Caller> {
  /** The caller, as they may reach the models. */
  readonly caller: Who;
  /** Null: the call names its model. */
  readonly alias: CalledAlias | null;
  readonly #asked: Asked;
  readonly #links: Links;
  readonly #resolved: Resolved<Who>;
  #turns = 0;
  #turn: Turn | null = null;

  constructor(asked: Asked, caller: Who, links: Links) {
    const { model } = asked.call.request;
    const { serviceType } = ENDPOINTS[asked.endpoint];
    this.#resolved = resolve(links, { caller, serviceType, model });
    const { alias, models } = this.#resolved;
    this.caller = this.#resolved.caller;
    this.alias = alias && { name: model, models, asking: caller };
    this.#asked = asked;
    this.#links = links;
  }

  /** The models in the order in which they are tried. */
  get models(): readonly string[] {
    return this.#resolved.models;
  }

  /** Throws `model_not_found` if the caller may use none of them, online or not. */
  requireKnown(): void {
    if (this.#find(knownModels).length === 0) throw this.#absence(modelNotFound);
  }

  /** The first model that is online, of each of its providers. Throws if there is none. */
  serving(): readonly AdvertisedModel[] {
    const serving = this.#find(servingModels);
    if (serving.length === 0) throw this.#absence(modelAbsent);
    return serving;
  }

  #find(look: typeof knownModels): readonly AdvertisedModel[] {
    for (const model of this.models) {
      const found = look(this.#links.candidates(this.#serviceType, model), this.caller);
      if (found.length > 0) return found;
    }
    return [];
  }

  #absence(tell: typeof modelNotFound): ApiError {
    const { endpoint, call } = this.#asked;
    const { caller, alias } = this;
    const [model = call.request.model] = this.models;
    const error = tell({ caller, endpoint, model, ...(alias && { alias }) }, this.#links);
    return alias === null ? error : aliasUnserved(alias, error);
  }

  /** The model whose turn it is. Throws an `ApiError` if the request fits none of them. */
  get turn(): Turn {
    this.#turn ??= this.next();
    if (this.#turn === null) throw new Error('a chain has at least one model');
    return this.#turn;
  }

  /**
   * Passes on to the next model; null if there is none. A model that the request does not fit is
   * passed over; if it is the last one, and none before it had its turn, its error is thrown.
   */
  next(): Turn | null {
    let fault: unknown = null;
    for (const model of this.models.slice(this.#turns)) {
      this.#turns += 1;
      try {
        this.#turn = { model, fitted: this.#fit(model) };
        return this.#turn;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        fault ??= error;
      }
    }
    if (fault !== null && this.#turn === null) throw fault;
    return null;
  }

  #fit(model: string): FittedCall {
    const { endpoint, call } = this.#asked;
    const kind = relayedKind(endpoint);
    const named = { ...call, request: { ...call.request, model } };
    return kind.fit(named, () =>
      kind.modelsToFit(this.#links.candidates(this.#serviceType, model), this.caller),
    );
  }

  get #serviceType(): ServiceType {
    return ENDPOINTS[this.#asked.endpoint].serviceType;
  }
}
