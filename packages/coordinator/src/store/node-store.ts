/**
 * The part of the store's port for the coordinators that share a database. Their times are Unix ms
 * of the database's clock: those of two machines may differ.
 */

/** A coordinator reports this often. */
export const NODE_REPORT_MS = 3_000;

/** One that has not reported for this long is dead, or cut off from the database. */
export const NODE_SILENT_MS = 15_000;

export interface NodeRow {
  readonly name: string;
  /** Where other coordinators reach it; null: they do not. */
  readonly url: string | null;
  readonly version: string | null;
  readonly startedAt: number | null;
  readonly reportedAt: number | null;
  /** It has reported within `NODE_SILENT_MS`, and has not stopped. */
  readonly isAlive: boolean;
  /** It is to serve nobody any more. */
  readonly draining: boolean;
  /** Agents that are linked to it. */
  readonly agents: number;
}

/** What a coordinator says of itself. */
export interface NodeReport extends Pick<NodeRow, 'url' | 'agents'> {
  readonly version: string;
  /** Its process has just started. */
  readonly isNew: boolean;
}

/** A key of the links between coordinators. */
export interface NodeKey {
  readonly id: string;
  readonly secret: Uint8Array;
  readonly ageMs: number;
}

export interface NodeNews {
  /** All, including the one that asks, by name. */
  readonly nodes: readonly NodeRow[];
  /** The newest first. */
  readonly keys: readonly NodeKey[];
}

export type SecretPurpose = 'node links' | 'asset links' | 'set-up link' | 'log-ins';

export interface NodeStore {
  /** `freshKey`: becomes the first key, if there is none. */
  reportNode(report: NodeReport, freshKey: Uint8Array, now: number): Promise<NodeNews>;
  /** This coordinator stops. */
  leaveNode(now: number): Promise<void>;
  listNodes(now: number): Promise<readonly NodeRow[]>;
  /** False if it is unknown. */
  setNodeDraining(name: string, draining: boolean): Promise<boolean>;
  /** Forgets a coordinator that does not run any more. */
  removeNode(name: string, now: number): Promise<'removed' | 'alive' | 'unknown'>;
  /** The new key is used for new links, and those before it are accepted for a day. */
  rotateNodeKey(freshKey: Uint8Array, now: number): Promise<void>;
  /** The oldest of this purpose; `fresh`, if there is none. */
  sharedSecret(purpose: SecretPurpose, fresh: Uint8Array, now: number): Promise<Uint8Array>;
  /** Whether this coordinator does the upkeep for all: one at a time does. */
  holdsUpkeep(): Promise<boolean>;
}
