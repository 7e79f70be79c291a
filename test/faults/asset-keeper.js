// Keeps assets as fast as the disk takes them, removes every third one, and prints each id that it
// has answered with what was done to it. Arguments: data folder, member, milliseconds of retention.
import { openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { AssetLibrary } from '@inference-gateway/coordinator/assets/asset-library';
import { removeExpired } from '@inference-gateway/coordinator/assets/sweep';
import { DurationMeter } from '@inference-gateway/coordinator/media/duration';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const WRITERS = 5;
const SLOW_MS = 4;
const [dataDir = '', memberId = '', retentionMs = ''] = process.argv.slice(2);
const store = await openStore(dataDir, { inThread: true });
const slowStore = Object.assign(Object.create(store), {
  createAsset: slow((...args) => store.createAsset(...args)),
  deleteAsset: slow((...args) => store.deleteAsset(...args)),
  takeExpiredAssets: slow((...args) => store.takeExpiredAssets(...args)),
});
const files = openByteStore(dataDir);
const library = new AssetLibrary({
  now: Date.now,
  files,
  store: slowStore,
  durations: new DurationMeter(),
  maxBytes: 1024 ** 4,
  retentionMs: Number(retentionMs),
  logger: createLogger('silent'),
});
const facts = {
  memberId,
  keyId: null,
  providerId: null,
  requestId: 'req_1',
  model: 'sdxl',
  endpoint: 'images',
};

// Widens the moments between a file and its row, in which a kill could do harm.
function slow(operation) {
  return async (...args) => {
    await pause(SLOW_MS);
    const outcome = await operation(...args);
    await pause(SLOW_MS);
    return outcome;
  };
}

async function write() {
  for (let i = 0; ; i++) {
    const contentType = i % 5 === 0 ? 'audio/wav' : 'image/png';
    const draft = library.draft();
    for (let piece = 0; piece < 4; piece++) void draft.write(randomBytes(3_000));
    const { id } = await library.keep(draft, { ...facts, contentType });
    console.log(`kept ${id}`);
    if (i % 3 === 0) console.log(`removed ${(await library.remove(id, memberId)) ? id : 'none'}`);
  }
}

// What the library does every ten minutes.
async function expire() {
  for (;;) await removeExpired(files, slowStore, Date.now());
}

await Promise.all([expire(), ...Array.from({ length: WRITERS }, write)]);
