/** What the engine can be asked to do: the operations, each synchronous on its connection. */
import type { SharingFacts } from '../../../core/access/sharing.js';
import type { Store, UsageRow } from '../../port.js';

/** The client keeps the others to itself: it batches, probes, watches and closes. */
interface Asked extends Omit<
  Store,
  'by' | 'recordUsage' | 'isWritable' | 'watchSharing' | 'close'
> {
  writeUsage(rows: readonly UsageRow[]): Promise<void>;
  probeWrite(): Promise<void>;
}

export type Operations = {
  readonly [Name in keyof Asked]: (
    ...args: Parameters<Asked[Name]>
  ) => Awaited<ReturnType<Asked[Name]>>;
};

/** One operation as it crosses to the engine. */
export interface Call {
  /** Whose change it is, for the audit log. */
  readonly actor: string;
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}

/** How it ended there. `storage` is the disk's or the file's fault, not that of the operation. */
export type CallOutcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly storage: boolean; readonly message: string };

/** Calls that arrive together. */
export interface Group {
  readonly calls: readonly Call[];
  /** Whether the facts of sharing are asked for where they have changed. */
  readonly watchesSharing: boolean;
}

export interface GroupOutcome {
  /** One a call, in their order. */
  readonly outcomes: readonly CallOutcome[];
  /** What is remembered of keys and their members may be wrong from now on. */
  readonly keysChanged: boolean;
  /**
   * As they are after the group; null if they have not changed since the one before, or nobody
   * asked.
   */
  readonly sharing: SharingFacts | null;
}
