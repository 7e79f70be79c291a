/**
 * What the worker can be asked to do: the store's operations, each synchronous on the worker's
 * connection.
 */
import type { Store, UsageRow } from '../port.js';

/** The client keeps the other three to itself: it batches, probes and closes. */
interface Asked extends Omit<Store, 'recordUsage' | 'isWritable' | 'close'> {
  writeUsage(rows: readonly UsageRow[]): Promise<void>;
  probeWrite(): Promise<void>;
}

export type Operations = {
  readonly [Name in keyof Asked]: (
    ...args: Parameters<Asked[Name]>
  ) => Awaited<ReturnType<Asked[Name]>>;
};

/** One operation as it crosses to the worker. */
export interface Call {
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}

/** How it ended there. `storage` is the disk's or the file's fault, not that of the operation. */
export type CallOutcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly storage: boolean; readonly message: string };
