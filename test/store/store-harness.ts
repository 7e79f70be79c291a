/** What an adapter's tests need in addition to the store. */
import type { Store, UsageRow } from '@inference-gateway/coordinator/store/port';

export type WrittenUsage = Pick<
  UsageRow,
  'requestId' | 'outcome' | 'promptTokens' | 'completionTokens' | 'audioMs' | 'images' | 'totalMs'
>;

export interface StoreHarness {
  readonly store: Store;
  /** Closes the store and opens another on the same data. */
  reopen(): Promise<Store>;
  /** Another coordinator's view of the same data at the same time; the harness closes it. */
  peer(nodeId: string): Store;
  /** Closes the store, then reads the usage rows directly from the database. */
  usage(): Promise<WrittenUsage[]>;
}
