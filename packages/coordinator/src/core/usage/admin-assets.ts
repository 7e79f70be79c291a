/** What an administrator's command may do with the files of assets. */

export interface AssetFault {
  readonly id: string;
  /** `orphan`: a file without a row; `missing`: a row without its file. */
  readonly fault: 'missing' | 'damaged' | 'orphan';
  readonly detail: string;
}

export interface PruneReport {
  readonly expired: number;
  readonly orphans: number;
  /** Freed bytes; with `dryRun`, the bytes that would be freed. */
  readonly bytes: number;
}

export interface AdminAssets {
  /** Reads every file completely and compares it with its row. */
  verify(
    now: number,
  ): Promise<{ readonly checked: number; readonly faults: readonly AssetFault[] }>;
  /** Deletes files whose rows are gone; returns the freed bytes. */
  removeFiles(ids: readonly string[]): Promise<number>;
  /** Deletes what expired by `now`, and orphans; with `dryRun` it only counts them. */
  prune(now: number, dryRun: boolean): Promise<PruneReport>;
}
