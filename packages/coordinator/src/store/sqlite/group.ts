/** Calls of operations, as they are sent to the engine and answered. */
import type { SharingFacts } from '../../core/access/sharing.js';
import type { Act } from '../operations/audit/audit-trail.js';
import type { OperationName } from '../operations/operations.js';

/** A call of an operation, as it is sent to the engine. The actor is for the audit log. */
export interface Call extends Act {
  readonly name: OperationName;
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
