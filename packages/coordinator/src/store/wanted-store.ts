/** The part of the store's port for models that members asked for and nobody served. */

/** Days for which they are kept. */
export const WANTED_DAYS = 30;

/** Further ids are not kept until others are deleted. */
export const MAX_WANTED_ROWS = 20_000;

/** Of one answer; those that most members want. */
export const MAX_WANTED_SHOWN = 20;

/** What a member asked for in vain. */
export interface AskedModel {
  readonly memberId: string;
  /** As the member wrote it. */
  readonly model: string;
}

/** An id that may be kept, and the day, in UTC: its first millisecond. */
export interface AskedOn extends AskedModel {
  readonly day: number;
}

export interface WantedModel {
  readonly model: string;
  /** Of the network in which the most members want it. */
  readonly members: number;
}

export interface WantedStore {
  /**
   * Written later, if it looks like the id of a model (`core/access/wanted-model.ts`), and the
   * member asked for few others today.
   */
  noteWanted(asked: AskedModel): void;
  /**
   * What at least three members of one of the member's networks want; nothing that a provider has,
   * shared or not, or that is called like an alias.
   */
  wantedModels(memberId: string, now: number): Promise<readonly WantedModel[]>;
  /** Returns the number of deleted rows, at most the limit. */
  deleteOldWanted(now: number, limit: number): Promise<number>;
}
