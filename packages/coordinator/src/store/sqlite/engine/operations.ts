/** The operations of the engine, each synchronous on its connection. */
import type { SharingFacts } from '../../../core/access/sharing.js';
import type { Store, UsageRow } from '../../port.js';
import type { Act } from './audit-trail.js';

/** The others are the client's own: it batches, probes, watches and closes. */
interface Asked extends Omit<
  Store,
  'by' | 'recordUsage' | 'isWritable' | 'watchSharing' | 'close'
> {
  writeUsage(rows: readonly UsageRow[]): Promise<void>;
  probeWrite(): Promise<void>;
}

/** Operations whose outcome depends on the actor, which the client adds to their argument. */
export type OfActor = 'createInvite' | 'findDevice' | 'approveDevice' | 'denyDevice';

type Arguments<Name extends keyof Asked> = Name extends OfActor
  ? [subject: Parameters<Asked[Name]>[0] & Pick<Act, 'actor'>, now: number]
  : Parameters<Asked[Name]>;

export type Operations = {
  readonly [Name in keyof Asked]: (...args: Arguments<Name>) => Awaited<ReturnType<Asked[Name]>>;
};

/** A call of an operation, as it is sent to the engine. The actor is for the audit log. */
export interface Call extends Act {
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}

/** The outcome of a call. `storage`: an error of the disk or the file, not of the operation. */
export type CallOutcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly storage: boolean; readonly message: string };

/** Calls that arrive together. */
export interface Group {
  readonly calls: readonly Call[];
  /** Whether the sharing facts are returned if they have changed. */
  readonly watchesSharing: boolean;
}

export interface GroupOutcome {
  /** One per call, in order. */
  readonly outcomes: readonly CallOutcome[];
  /** Cached keys may be out of date. */
  readonly keysChanged: boolean;
  /**
   * The facts after the group; null if they have not changed since the group before, or were not
   * requested.
   */
  readonly sharing: SharingFacts | null;
}
