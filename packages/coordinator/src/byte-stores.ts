/** Where bytes lie on disk: uploads for as long as their call runs, generated files for longer. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { join } from 'node:path';
import { AssetFiles, assetsFolder } from './assets/asset-files.js';
import { AssetLibrary } from './assets/asset-library.js';
import type { Config } from './config/config.js';
import { Spool } from './http/bodies/spool.js';
import { Uploads } from './http/bodies/upload.js';
import { DurationMeter } from './media/duration.js';
import type { Store } from './store/port.js';

export interface ByteStores {
  readonly uploads: Uploads;
  readonly library: AssetLibrary;
  readonly durations: DurationMeter;
  close(): Promise<void>;
}

/** Needs the lock of the data folder. */
export function openByteStores(config: Config, store: Store, logger: Logger): ByteStores {
  const { dataDir, assetsMaxBytes: maxBytes, retentionMs } = config;
  const durations = new DurationMeter();
  const files = new AssetFiles(assetsFolder(dataDir));
  const library = new AssetLibrary({ files, store, durations, maxBytes, retentionMs, logger });
  return {
    uploads: new Uploads(new Spool(join(dataDir, 'uploads'))),
    library,
    durations,
    async close() {
      await library.close();
      await durations.close();
    },
  };
}
