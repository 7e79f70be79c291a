/** What an adapter's tests need beside the store itself. */
import type { Store, UsageRow } from '@inference-gateway/coordinator/store/port';

export type WrittenUsage = Pick<
  UsageRow,
  'requestId' | 'outcome' | 'promptTokens' | 'completionTokens' | 'audioMs' | 'images' | 'totalMs'
>;

export interface StoreHarness {
  readonly store: Store;
  /** Closes the store and opens another on the same data. */
  reopen(): Promise<Store>;
  /** The same data as another coordinator uses it at the same time; the harness closes it. */
  peer(nodeId: string): Store;
  /** Closes the store and reads the usage rows around it. */
  usage(): Promise<WrittenUsage[]>;
}
